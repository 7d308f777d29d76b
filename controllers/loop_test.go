// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/controllers"
	"platformapp/internal/observe"
	"platformapp/internal/platform"
	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// loop is the operator as the tests run it: turn by turn, on the cache and the client
// that it has in production, in a namespace of its own. What the test itself does, it
// does as another user of the cluster.
type loop struct {
	testing.TB
	ctx       context.Context
	namespace string
	// user is another user of the cluster.
	user client.Client
	// operator is what the loop reads and writes by.
	operator client.Client
	requests *requestLog
	events   *events.FakeRecorder
	clock    *testingclock.FakeClock
	reader   cache.Cache
	// untouched watches over what the cache holds.
	untouched *untouched
	// caughtUp holds, by kind, how many writes the cache has caught up with.
	caughtUp map[string]int

	// platform is what the operator knows of the cluster; the optional kinds in it must be
	// among those of the API server.
	platform *platform.Facts

	egapps   reconcile.Reconciler
	services reconcile.Reconciler
}

// loopOption changes how the operator is run.
type loopOption func(*loopOptions)

type loopOptions struct {
	namespace string
	// others are further namespaces that the operator sees to.
	others []string
	// everywhere lets it see to all.
	everywhere bool
	// wrap and wrapLive put something between the loop and what it reads and writes by, and asks the API server itself by.
	wrap, wrapLive func(client.Client) client.Client

	facts   platform.Facts
	options controllers.Options
}

// inNamespace runs the operator in the namespace of another loop.
func inNamespace(namespace string) loopOption {
	return func(o *loopOptions) { o.namespace = namespace }
}

// inNamespaces lets the operator see to other namespaces too.
func inNamespaces(others ...string) loopOption {
	return func(o *loopOptions) { o.others = others }
}

// inAllNamespaces lets the operator see to all namespaces.
func inAllNamespaces() loopOption {
	return func(o *loopOptions) { o.everywhere = true }
}

// onPlatform runs the operator on a cluster with the optional kinds.
func onPlatform(openShift bool, kinds ...string) loopOption {
	return func(o *loopOptions) {
		o.facts.OpenShift = openShift
		for _, kind := range kinds {
			o.facts.Kinds[kind] = true
		}
	}
}

// withOptions runs the operator with other options than the default ones.
func withOptions(options controllers.Options) loopOption {
	return func(o *loopOptions) { o.options = options }
}

// wrapped puts something between the loop and its client.
func wrapped(wrap func(client.Client) client.Client) loopOption {
	return func(o *loopOptions) { o.wrap = wrap }
}

// wrappedLive puts something between the loop and the API server that it asks itself.
func wrappedLive(wrap func(client.Client) client.Client) loopOption {
	return func(o *loopOptions) { o.wrapLive = wrap }
}

// newLoop runs an operator until the test ends.
func newLoop(t testing.TB, opts ...loopOption) *loop {
	t.Helper()
	asIs := func(c client.Client) client.Client { return c }
	o := loopOptions{
		wrap: asIs, wrapLive: asIs,
		facts: platform.Facts{Platform: workload.Platform{Kinds: map[string]bool{"HTTPRoute": false, "Route": false, "ServiceMonitor": false}}},
	}
	for _, opt := range opts {
		opt(&o)
	}
	l := &loop{TB: t, ctx: t.Context(), requests: &requestLog{}, events: events.NewFakeRecorder(1000), clock: testingclock.NewFakeClock(time.Now()), platform: &o.facts}
	var err error
	if l.user, err = client.New(cluster, client.Options{Scheme: scheme, Mapper: mapper}); err != nil {
		t.Fatal(err)
	}
	if l.namespace = o.namespace; l.namespace == "" {
		l.namespace = makeNamespace(t, l.user)
	}
	l.connect(o)
	return l
}

// connect makes the operator's cache and client, as main does.
func (l *loop) connect(o loopOptions) {
	l.Helper()
	config := rest.CopyConfig(cluster)
	config.UserAgent = "platformapp"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return l.requests.countedBy(next) })

	namespaces := append(slices.Clone(o.others), l.namespace)
	if o.everywhere {
		namespaces = nil
	}
	options := controllers.ManagerOptions(namespaces, controllers.NewAPIs()).Cache
	options.Scheme, options.Mapper = scheme, observe.Remembering(mapper)
	l.untouched = watchUntouched(l.TB, &options)
	reader, err := cache.New(config, options)
	l.must(err)
	l.must(controllers.IndexFields(l.ctx, reader))
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.ctx))
	stopped := make(chan error, 1)
	go func() { stopped <- reader.Start(ctx) }()
	l.Cleanup(func() {
		cancel()
		if err := <-stopped; err != nil {
			l.Errorf("stop the cache: %v", err)
		}
		l.untouched.check(l.TB)
	})
	for _, object := range l.watched() {
		_, err := reader.GetInformer(l.ctx, object, cache.BlockUntilSynced(false))
		l.must(err)
	}
	if !reader.WaitForCacheSync(l.ctx) {
		l.Fatal("the cache does not fill")
	}
	l.reader, l.caughtUp = reader, map[string]int{}
	l.operator, err = client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper, Cache: &client.CacheOptions{Reader: reader}})
	l.must(err)
	live, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	l.must(err)
	l.operator = o.wrap(l.operator)
	d := controllers.Dependencies{
		Client: l.operator, Live: o.wrapLive(live), Recorder: l.events, Clock: l.clock,
		Platform: func() (platform.Facts, error) { return *l.platform, nil },
		Lacks: func(_ context.Context, kind string) bool {
			return slices.Contains([]string{"HTTPRoute", "Route", "ServiceMonitor"}, kind) && !l.platform.Kinds[kind]
		},
	}
	l.egapps, l.services = controllers.NewEGAppReconciler(d, o.options), controllers.NewDemoMicroServiceReconciler(d)
}

// restarted returns the operator after a restart: it has forgotten everything.
func (l *loop) restarted(opts ...loopOption) *loop {
	l.Helper()
	return newLoop(l.TB, append(opts, inNamespace(l.namespace))...)
}

// watched are the kinds that the operator watches on its platform.
func (l *loop) watched() []client.Object {
	objects := append(observe.Referenced(), &v1alpha1.EGApp{}, &devopsv1.DemoMicroService{}, &corev1.Pod{}, observe.ReplicaSetMetadata())
	for _, kind := range resources.Kinds {
		if !kind.Optional || l.platform.Kinds[kind.Name] {
			objects = append(objects, kind.New())
		}
	}
	return objects
}

// turn makes one turn of the loop for an application, on a cache that is up to date.
func (l *loop) turn(app client.Object) (reconcile.Result, error) {
	l.Helper()
	l.catchUp()
	reconciler := l.egapps
	if _, ok := app.(*devopsv1.DemoMicroService); ok {
		reconciler = l.services
	}
	return reconciler.Reconcile(l.ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)})
}

// reconcile makes turns until one writes nothing, and returns the last result. It fails
// the test when a turn fails or when the loop does not come to rest.
func (l *loop) reconcile(app client.Object) reconcile.Result {
	l.Helper()
	for range 10 {
		before := l.requests.writes()
		result, err := l.turn(app)
		l.must(err)
		if result.RequeueAfter > 0 && result.RequeueAfter <= time.Second {
			l.clock.Step(result.RequeueAfter)
			continue
		}
		if l.requests.writes() == before {
			l.read(app)
			return result
		}
	}
	l.Fatalf("%s does not come to rest: %v", app.GetName(), l.requests.list())
	return reconcile.Result{}
}

// catchUp waits until the operator's cache holds what the API server does.
func (l *loop) catchUp() {
	l.Helper()
	for _, object := range l.watched() {
		gvk, err := apiutil.GVKForObject(object, scheme)
		l.must(err)
		count, err := written.of(l.namespace, object)
		l.must(err)
		if seen, ok := l.caughtUp[gvk.Kind]; ok && seen == count {
			continue
		}
		eventually(l.TB, func() error { return l.sameVersions(object) })
		l.caughtUp[gvk.Kind] = count
	}
}

func (l *loop) sameVersions(object client.Object) error {
	gvk, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return err
	}
	stored, seen := &metav1.PartialObjectMetadataList{}, client.ObjectList(&metav1.PartialObjectMetadataList{})
	stored.SetGroupVersionKind(gvk)
	if _, isMetadata := object.(*metav1.PartialObjectMetadata); isMetadata {
		seen.GetObjectKind().SetGroupVersionKind(gvk)
	} else {
		list, err := scheme.New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err != nil {
			return err
		}
		seen = list.(client.ObjectList)
	}
	options := []client.ListOption{client.InNamespace(l.namespace)}
	switch object.(type) {
	case *v1alpha1.EGApp, *devopsv1.DemoMicroService, *corev1.ConfigMap, *corev1.PersistentVolumeClaim, *autoscalingv2.HorizontalPodAutoscaler:
	default:
		if gvk.Kind != "ServiceAccount" {
			options = append(options, client.MatchingLabels{"platform.evillgenius.com/managed-by": "platformapp"})
		}
	}
	if err := l.user.List(l.ctx, stored, options...); err != nil {
		return err
	}
	if err := l.reader.List(l.ctx, seen, client.InNamespace(l.namespace)); err != nil {
		return err
	}
	if a, b := versions(stored), versions(seen); a != b {
		return fmt.Errorf("of %s the cache holds %s, the API server %s", gvk.Kind, b, a)
	}
	return nil
}

// create creates an object as another user.
func (l *loop) create(object client.Object) {
	l.Helper()
	object.SetNamespace(l.namespace)
	l.must(l.user.Create(l.ctx, object))
}

// read reads an object as it is stored.
func (l *loop) read(object client.Object) {
	l.Helper()
	object.SetNamespace(l.namespace)
	l.must(l.user.Get(l.ctx, client.ObjectKeyFromObject(object), object))
}

// exists tells whether an object is stored.
func (l *loop) exists(object client.Object) bool {
	l.Helper()
	object.SetNamespace(l.namespace)
	err := l.user.Get(l.ctx, client.ObjectKeyFromObject(object), object)
	if err != nil && !apierrors.IsNotFound(err) {
		l.Fatal(err)
	}
	return err == nil
}

// change reads an object, changes it and writes it back, as kubectl edit does.
func (l *loop) change(object client.Object, change func()) {
	l.Helper()
	l.read(object)
	change()
	l.must(l.user.Update(l.ctx, object, client.FieldOwner("kubectl-edit")))
}

func (l *loop) deployment(name string) *appsv1.Deployment {
	l.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	l.read(deployment)
	return deployment
}

// deploymentInTheCache returns a Deployment as the operator reads it, which is shared with the cache.
func (l *loop) deploymentInTheCache(name string) *appsv1.Deployment {
	l.Helper()
	deployment := &appsv1.Deployment{}
	l.must(l.reader.Get(l.ctx, types.NamespacedName{Namespace: l.namespace, Name: name}, deployment, client.UnsafeDisableDeepCopy))
	return deployment
}

func (l *loop) service(name string) *corev1.Service {
	l.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}
	l.read(service)
	return service
}

// children returns what there is of an application's children, as it is stored.
func (l *loop) children(app client.Object) map[string]client.Object {
	l.Helper()
	children := map[string]client.Object{}
	for _, kind := range resources.Kinds {
		if kind.Optional && !l.platform.Kinds[kind.Name] {
			continue
		}
		object := kind.New()
		object.SetName(app.GetName() + kind.Suffix)
		if l.exists(object) {
			children[kind.Name+"/"+object.GetName()] = object
		}
	}
	return children
}

// childrenOf returns the children, by kind and name: what people and controllers see of
// them, without what differs from one object to the next of the same, and without the
// given annotations.
func (l *loop) childrenOf(app client.Object, without ...string) map[string]string {
	l.Helper()
	children := map[string]string{}
	for name, object := range l.children(app) {
		children[name] = l.contentOf(object, without...)
	}
	return children
}

// contentOf returns labels, annotations and specification of an object as text.
func (l *loop) contentOf(object client.Object, without ...string) string {
	l.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	l.must(err)
	delete(content, "status")
	metadata := content["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences", "namespace"} {
		delete(metadata, field)
	}
	for _, set := range []string{"labels", "annotations"} {
		values, _ := metadata[set].(map[string]any)
		delete(values, workload.LabelOwnerUID)
		delete(values, workload.AnnotationAppliedHash)
		delete(values, workload.AnnotationRevision)
		for _, key := range without {
			delete(values, key)
		}
	}
	if _, isService := object.(*corev1.Service); isService {
		// The addresses that a Service is given.
		unstructured.RemoveNestedField(content, "spec", "clusterIP")
		unstructured.RemoveNestedField(content, "spec", "clusterIPs")
	}
	text, err := json.Marshal(content)
	l.must(err)
	return string(text)
}

// scaleOf reads the scale subresource.
func (l *loop) scaleOf(app client.Object) *autoscalingv1.Scale {
	l.Helper()
	scale := &autoscalingv1.Scale{}
	l.must(l.user.SubResource("scale").Get(l.ctx, app, scale))
	return scale
}

// rollOutIfThere plays the Deployment controller if there is a Deployment.
func (l *loop) rollOutIfThere(name string) {
	l.Helper()
	l.must(client.IgnoreNotFound(l.tryRollOut(name)))
}

// rollOut plays the Deployment controller: all pods of the Deployment come to serve.
func (l *loop) rollOut(name string) {
	l.Helper()
	l.must(l.tryRollOut(name))
}

func (l *loop) tryRollOut(name string) error {
	deployment := &appsv1.Deployment{}
	if err := l.user.Get(l.ctx, types.NamespacedName{Namespace: l.namespace, Name: name}, deployment); err != nil {
		return err
	}
	return l.updateRolledOut(deployment)
}

// updateRolledOut writes the status of a Deployment of which all pods serve.
func (l *loop) updateRolledOut(deployment *appsv1.Deployment) error {
	n := *deployment.Spec.Replicas
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
	return l.user.Status().Update(l.ctx, deployment)
}

// running creates an application and brings it to serve.
func (l *loop) running(app client.Object) {
	l.Helper()
	l.create(app)
	l.reconcile(app)
	l.rollOut(app.GetName())
	l.reconcile(app)
}

func (l *loop) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// versions tells which objects a list holds, and in which versions.
func versions(list client.ObjectList) string {
	items, err := meta.ExtractList(list)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, item := range items {
		object := item.(client.Object)
		out = append(out, object.GetName()+"@"+object.GetResourceVersion())
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func makeNamespace(t testing.TB, c client.Client) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// eventually waits until check returns nil, for what happens in another process.
func eventually(t testing.TB, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// set sets fields of an EGApp's specification, which are given as YAML.
func set(t testing.TB, app *v1alpha1.EGApp, fields string) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(fields), &app.Spec); err != nil {
		t.Fatal(err)
	}
}

// failsUnless returns an error unless something is so.
func failsUnless(isSo bool, format string, args ...any) error {
	if isSo {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// requestLog counts the requests of the operator.
type requestLog struct {
	mu       sync.Mutex
	requests []string
	written  int
}

func (r *requestLog) countedBy(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		r.mu.Lock()
		r.requests = append(r.requests, request.Method+" "+request.URL.Path)
		if request.Method != http.MethodGet {
			r.written++
		}
		r.mu.Unlock()
		return next.RoundTrip(request)
	})
}

// writes is the number of requests so far that were to change something.
func (r *requestLog) writes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written
}

// list returns the requests so far, but for those that discover the API.
func (r *requestLog) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, request := range r.requests {
		if strings.Contains(request, "/namespaces/") {
			out = append(out, request)
		}
	}
	return out
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
