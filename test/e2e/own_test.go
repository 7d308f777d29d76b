// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/testutil"
	"platformapp/internal/workload"
	"platformapp/test/audit"
	"platformapp/test/operator"
)

// TestOperatorOfItsOwn holds the tests that start, stop and kill operators.
func TestOperatorOfItsOwn(t *testing.T) {
	s := startSuite(t)
	if err := s.stopShared(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(*scene){
		"deletion needs no operator":                          deletionNeedsNoOperator,
		"a killed operator converges":                         killedOperatorConverges,
		"C29 rest and restart make no request":                restMakesNoRequest,
		"the leader hands over within seconds":                leaderHandsOver,
		"nothing outside the watched namespaces is asked for": scopeIsKept,
		"N23 a rename by GitOps, with the webhook":            func(s *scene) { renameSucceeds(s, true) },
		"N23 a rename by GitOps, without the webhook":         func(s *scene) { renameSucceeds(s, false) },
		"attacks are refused by the webhook":                  webhookRefusesAttacks,
		"the fleet is counted":                                fleetIsCounted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newScene(t))
		})
	}
}

// There is no finalizer that would wait for the operator.
func deletionNeedsNoOperator(s *scene) {
	namespace := s.namespace("unattended")
	op, _ := s.startIn(namespace)
	apps := []application{newEGApp(namespace, "orders", 3), newDemoMicroService(namespace, "podinfo")}
	for _, app := range apps {
		s.create(app)
	}
	s.ready(apps...)
	s.terminate(op)
	for _, app := range apps {
		s.delete(app)
		s.isGone(time.Second, app)
	}
	s.gone(podWait, namespace, &appsv1.DeploymentList{}, &corev1.ServiceList{}, &appsv1.ReplicaSetList{}, &corev1.PodList{})
}

func killedOperatorConverges(s *scene) {
	namespace := s.namespace("killed")
	op, account := s.startIn(namespace)
	const deploymentsToKill = 6
	killed := make(chan struct{})
	births := s.recordBirths(namespace, func(n int) {
		if n == deploymentsToKill {
			op.Kill()
			close(killed)
		}
	})
	var apps []application
	for i := range 10 {
		apps = append(apps, newEGApp(namespace, fmt.Sprintf("orders-%d", i), 1), newDemoMicroService(namespace, fmt.Sprintf("podinfo-%d", i)))
	}
	for _, app := range apps {
		s.create(app)
	}
	select {
	case <-killed:
	case <-time.After(shortWait):
		s.Fatalf("the operator did not make %d Deployments within %s", deploymentsToKill, shortWait)
	}
	const children = 20 + 10 // Deployments and Services
	before := len(s.children(namespace))
	if before == children {
		s.Error("the operator was killed too late: it had made all children")
	}
	s.Logf("%d of %d children were there when the operator was killed", before, children)

	s.start(operatorOptions{account: account, watch: namespace})
	s.ready(apps...)
	after := s.children(namespace)
	if len(after) != children {
		s.Errorf("there are %d children, want %d", len(after), children)
	}
	for child, uid := range after {
		s.eventually(shortWait, "the watch tells of "+child, func(context.Context) error {
			if born := births(child); len(born) == 0 || born[len(born)-1] != uid {
				return fmt.Errorf("it tells of %v, want %s", born, uid)
			}
			return nil
		})
		if n := len(births(child)); n != 1 {
			s.Errorf("%s was made %d times", child, n)
		}
	}
}

// recordBirths watches the Deployments and Services of a namespace and returns what tells the UIDs that a child has
// had. It calls back with the number of Deployments made so far, each time that one is made.
func (s *scene) recordBirths(namespace string, deploymentMade func(n int)) func(child string) []string {
	s.Helper()
	var mu sync.Mutex
	births := map[string][]string{}
	record := func(kind string, list client.ObjectList, made func(n int)) {
		events, err := s.admin.Watch(s.Context(), list, client.InNamespace(namespace))
		if err != nil {
			s.Fatal(err)
		}
		s.Cleanup(events.Stop)
		go func() {
			n := 0
			for event := range events.ResultChan() {
				object, ok := event.Object.(client.Object)
				if !ok || event.Type != watch.Added {
					continue
				}
				mu.Lock()
				births[kind+" "+object.GetName()] = append(births[kind+" "+object.GetName()], string(object.GetUID()))
				mu.Unlock()
				n++
				made(n)
			}
		}()
	}
	record("Deployment", &appsv1.DeploymentList{}, deploymentMade)
	record("Service", &corev1.ServiceList{}, func(int) {})
	return func(child string) []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(births[child])
	}
}

// children returns the UIDs of the Deployments and Services in a namespace by kind and name.
func (s *scene) children(namespace string) map[string]string {
	s.Helper()
	var deployments appsv1.DeploymentList
	var services corev1.ServiceList
	for _, list := range []client.ObjectList{&deployments, &services} {
		if err := s.admin.List(s.Context(), list, client.InNamespace(namespace)); err != nil {
			s.Fatal(err)
		}
	}
	uids := map[string]string{}
	for _, deployment := range deployments.Items {
		uids["Deployment "+deployment.Name] = string(deployment.UID)
	}
	for _, service := range services.Items {
		uids["Service "+service.Name] = string(service.UID)
	}
	return uids
}

// restPeriod is how long the operator is watched at rest, before and after its restart.
const restPeriod = 5 * time.Second

func restMakesNoRequest(s *scene) {
	namespace := s.namespace("rest")
	options := operatorOptions{account: s.account("operator", namespace), watch: namespace, args: []string{"--metrics-secure=false"}}
	op := s.start(options)
	var apps []application
	for i := range 3 {
		apps = append(apps, newEGApp(namespace, fmt.Sprintf("orders-%d", i), 2), newDemoMicroService(namespace, fmt.Sprintf("podinfo-%d", i)))
	}
	for _, app := range apps {
		s.create(app)
	}
	s.ready(apps...)
	before := s.atRest(namespace)

	start := time.Now()
	time.Sleep(restPeriod)
	s.terminate(op)
	restart := time.Now()
	op = s.start(options)
	s.eventually(shortWait, "the new operator has looked at every application", func(ctx context.Context) error {
		for _, controller := range []string{"egapp", "demomicroservice"} {
			// The turns of the loop that have ended well.
			labels := map[string]string{"controller": controller, "result": "success"}
			if n, err := op.Sum(ctx, "controller_runtime_reconcile_total", labels); err != nil || n < 3 {
				return fmt.Errorf("%s: %v turns, want 3, %w", controller, n, err)
			}
		}
		return nil
	})
	time.Sleep(restPeriod)

	if diff := cmp.Diff(before, s.versions(namespace)); diff != "" {
		s.Errorf("resource versions have changed at rest (-before +after):\n%s", diff)
	}
	requests := audit.Since(s.requestsOf(options.account), start)
	audit.ExpectNone(s, "requests at rest", audit.Filter(requests, func(r audit.Request) bool {
		return r.At.Before(restart) || (r.Verb != "list" && r.Verb != "watch")
	}))
	read := map[string]int{}
	for _, r := range requests {
		read[r.Resource]++
	}
	for resource, n := range read {
		if n > 2 {
			s.Errorf("%d requests to read all %s after a restart, want a list and a watch", n, resource)
		}
	}
	if len(read) == 0 {
		s.Error("no request of the restarted operator is in the audit log: this test sees nothing")
	}
}

// atRest waits until no application and no child in a namespace has changed for two seconds, and returns their
// resource versions.
func (s *scene) atRest(namespace string) map[string]string {
	s.Helper()
	var last map[string]string
	var changed time.Time
	s.eventually(shortWait, "applications and children come to rest", func(context.Context) error {
		if now := s.versions(namespace); !maps.Equal(now, last) {
			last, changed = now, time.Now()
		}
		if quiet := time.Since(changed); quiet < 2*time.Second {
			return fmt.Errorf("the last change was %s ago", quiet)
		}
		return nil
	})
	return last
}

// versions returns the resource versions of the applications and children in a namespace.
func (s *scene) versions(namespace string) map[string]string {
	s.Helper()
	versions := map[string]string{}
	apps, err := s.applications(s.Context(), namespace)
	if err != nil {
		s.Fatal(err)
	}
	objects := make([]client.Object, 0, 3*len(apps))
	for _, app := range apps {
		objects = append(objects, app, s.deploymentOf(app))
		if _, ok := app.(*v1alpha1.EGApp); ok {
			objects = append(objects, s.serviceOf(app))
		}
	}
	for _, object := range objects {
		versions[fmt.Sprintf("%T %s", object, object.GetName())] = object.GetResourceVersion()
	}
	return versions
}

// takeoverTimeout is how long after the leader was asked to end another operator may take to lead. It looks every
// 1 to 2.2 seconds, and would wait 15 seconds for a lease that is not given back.
const takeoverTimeout = 8 * time.Second

func leaderHandsOver(s *scene) {
	namespace := s.namespace("leaders")
	var operators []*operator.Process
	var accounts []account
	for _, name := range []string{"first", "second"} {
		a := s.account(name, namespace)
		s.allow(s.T, a, systemNamespace, "Role", leaderElectionRole)
		operators = append(operators, s.start(operatorOptions{account: a, watch: namespace,
			args: []string{"--leader-elect", "--leader-election-namespace=" + systemNamespace}}))
		accounts = append(accounts, a)
		// The first one started leads.
		s.eventually(shortWait, "there is a leader", func(ctx context.Context) error { return s.holder(ctx, "") })
	}
	lease := s.lease(s.Context())
	before := newEGApp(namespace, "before", 1)
	s.create(before)
	s.ready(before)
	audit.ExpectNone(s, "writes of the operator that does not lead", audit.Filter(s.requestsOf(accounts[1]), audit.Request.IsWrite))

	asked := time.Now()
	s.terminate(operators[0])
	during := newEGApp(namespace, "during", 1)
	s.create(during)
	s.eventually(takeoverTimeout-time.Since(asked), "the other operator leads", func(ctx context.Context) error {
		return s.holder(ctx, *lease.Spec.HolderIdentity)
	})
	s.Logf("taken over after %s", time.Since(asked).Round(100*time.Millisecond))
	s.ready(during)

	former := audit.Filter(s.requestsOf(accounts[0]), audit.Request.IsWrite)
	latter := audit.Filter(s.requestsOf(accounts[1]), audit.Request.IsWrite)
	if len(former) == 0 || len(latter) == 0 {
		s.Fatalf("%d writes of the first leader and %d of the second, want some of each", len(former), len(latter))
	}
	if last, first := former[len(former)-1], latter[0]; !last.At.Before(first.At) {
		s.Errorf("two operators wrote at the same time:\n  %s\n  %s", last, first)
	}
	for _, a := range accounts {
		s.expectNothingRefused(a)
	}
}

func (s *scene) lease(ctx context.Context) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: "platformapp.platform.evillgenius.com"}}
	if err := s.admin.Get(ctx, client.ObjectKeyFromObject(lease), lease); err != nil {
		return &coordinationv1.Lease{}
	}
	return lease
}

// holder fails unless somebody other than former holds the lease.
func (s *scene) holder(ctx context.Context, former string) error {
	if now := ptr.Deref(s.lease(ctx).Spec.HolderIdentity, ""); now == "" || now == former {
		return fmt.Errorf("the lease is held by %q", now)
	}
	return nil
}

func scopeIsKept(s *scene) {
	a, b, outside := s.namespace("scope-a"), s.namespace("scope-b"), s.namespace("scope-outside")
	// The rights end where the scope ends.
	account := s.account("operator", a, b)
	var inside []application
	for _, namespace := range []string{a, b, outside} {
		apps := []application{newEGApp(namespace, "orders", 1), newDemoMicroService(namespace, "podinfo")}
		for _, app := range apps {
			s.create(app)
		}
		if namespace != outside {
			inside = append(inside, apps...)
		}
	}
	s.start(operatorOptions{account: account, watch: a + ", " + b})
	s.ready(inside...)
	for _, app := range inside {
		if egapp, ok := app.(*v1alpha1.EGApp); ok {
			deleted := s.serviceOf(egapp)
			s.delete(deleted)
			s.isBack(&corev1.Service{ObjectMeta: childOf(egapp)}, deleted.UID, egapp)
			s.kubectl("scale", "egapp", egapp.Name, "--namespace", egapp.Namespace, "--replicas=3")
			s.runs(egapp, 3)
			s.ready(egapp)
		}
	}

	if children := s.children(outside); len(children) > 0 {
		s.Errorf("outside the watched namespaces there is %v", children)
	}
	apps, err := s.applications(s.Context(), outside)
	if err != nil {
		s.Fatal(err)
	}
	for _, app := range apps {
		if diff := cmp.Diff(appstatus.Status{ObservedGeneration: -1}, *app.AppStatus()); diff != "" {
			s.Errorf("%T outside the watched namespaces has a status:\n%s", app, diff)
		}
	}
	requests := s.requestsOf(account)
	audit.ExpectNone(s, "requests beyond the watched namespaces", audit.Filter(requests, func(r audit.Request) bool { return r.Namespace != a && r.Namespace != b }))
	if len(requests) == 0 {
		s.Error("no request of the operator is in the audit log: this test sees nothing")
	}
	s.expectNothingRefused(account)
}

// reserved are the rights that this test does not see used, each with its reason.
var reserved = map[string]string{
	"create events.events.k8s.io": "events are sent in the background, maybe after the end of this test",
	"patch events.events.k8s.io":  "an event that repeats is counted by a patch",

	"list deployments.apps":                           streamed,
	"list replicasets.apps":                           streamed,
	"list pods":                                       streamed,
	"list services":                                   streamed,
	"list configmaps":                                 streamed,
	"list persistentvolumeclaims":                     streamed,
	"list serviceaccounts":                            streamed,
	"list horizontalpodautoscalers.autoscaling":       streamed,
	"list poddisruptionbudgets.policy":                streamed,
	"list networkpolicies.networking.k8s.io":          streamed,
	"list ingresses.networking.k8s.io":                streamed,
	"list httproutes.gateway.networking.k8s.io":       streamed,
	"list routes.route.openshift.io":                  streamed,
	"list servicemonitors.monitoring.coreos.com":      streamed,
	"list demomicroservices.devops.my.domain":         streamed,
	"list egapps.egplatform.platform.evillgenius.com": streamed,

	"create routes.route.openshift.io/custom-host": askedByOpenShift,
	"update routes.route.openshift.io/custom-host": askedByOpenShift,

	"get demomicroservices.devops.my.domain":         lagging,
	"get egapps.egplatform.platform.evillgenius.com": lagging,
}

const lagging = "the API server is asked only when the cache is a tenth of a second behind the operator's own write"

const askedByOpenShift = "only OpenShift's own API server asks for it, when a Route names a host"

const streamed = "an API server of this version streams the list by a watch; an older one does not"

// It runs beside no other test: every operator of the cluster sees the optional APIs come and go.
func TestRightsGrantedAreRightsUsed(t *testing.T) {
	s := newScene(t)
	defer s.installOptionalAPIs()()
	namespace := s.namespace("rights")
	_, account := s.startIn(namespace)
	// Objects of others, in the way of children.
	labels := map[string]string{"app": "taken"}
	s.create(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "taken"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
			},
		},
	}, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shared"},
		Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}},
	})
	taken, shared := newEGApp(namespace, "taken", 1), newEGApp(namespace, "shared", 1)
	orders, podinfo := newEGApp(namespace, "orders", 1), newDemoMicroService(namespace, "podinfo")
	s.create(taken, shared, orders, podinfo)
	s.reports(shortWait, taken, metav1.ConditionFalse, appstatus.ReasonNameConflict)
	s.reports(shortWait, shared, metav1.ConditionFalse, appstatus.ReasonNameConflict)
	// While one name is taken, the API server is asked whether others are: for each child that is wanted.
	for _, patch := range asksForEveryKind() {
		s.kubectl("patch", "egapp", taken.Name, "--namespace", namespace, "--type=merge", "--patch", patch)
		s.reports(shortWait, taken, metav1.ConditionFalse, appstatus.ReasonNameConflict)
	}
	s.ready(orders, podinfo)
	// A child that is not wanted: a DemoMicroService has no Service.
	unwanted := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: podinfo.Name, Labels: s.deploymentOf(podinfo).Labels,
			OwnerReferences: s.deploymentOf(podinfo).OwnerReferences,
		},
		Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	s.create(unwanted)
	s.isGone(shortWait, unwanted)

	s.usesEveryKind(namespace)

	granted := s.granted(managerRole)
	var used map[string]bool
	// What a request has changed is seen before the request is in the audit log.
	s.eventually(shortWait, "every right granted is used", func(context.Context) error {
		used = s.rightsUsedBy(account)
		var unused []string
		for right := range granted {
			if !used[right] && reserved[right] == "" {
				unused = append(unused, right)
			}
		}
		slices.Sort(unused)
		if len(unused) > 0 {
			return fmt.Errorf("not used:\n  %s", strings.Join(unused, "\n  "))
		}
		return nil
	})
	for right := range used {
		if !granted[right] {
			s.Errorf("used and not granted: %s", right)
		}
	}
	for right := range reserved {
		if !granted[right] {
			s.Errorf("no longer granted, so it needs no reason: %s", right)
		}
	}
	s.expectNothingRefused(account)
}

// installOptionalAPIs gives the cluster the APIs that it may lack, and returns what takes them away again.
func (s *scene) installOptionalAPIs() (remove func()) {
	s.Helper()
	crds, err := testutil.OptionalCRDs(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	files := []string{"--filename", crds["HTTPRoute"], "--filename", crds["Route"], "--filename", crds["ServiceMonitor"]}
	s.kubectl(append([]string{"apply", "--server-side"}, files...)...)
	s.kubectl(append([]string{"wait", "--for=condition=Established", "--timeout=" + shortWait.String()}, files...)...)
	return func() { s.kubectl(append([]string{"delete", "--ignore-not-found"}, files...)...) }
}

// asksForEveryKind returns changes of three EGApps, which together ask for a child of every kind.
func asksForEveryKind() map[string]string {
	patches := map[string]string{
		"by-ingress":   `{"type":"Ingress","hosts":["a.example.com"]}`,
		"by-httproute": `{"type":"HTTPRoute","hosts":["b.example.com"],"httpRoute":{"gatewayRef":{"name":"gateway"}}}`,
		"by-route":     `{"type":"Route","hosts":["c.example.com"]}`,
	}
	for name, exposure := range patches {
		patches[name] = `{"spec":{
			"environment":"stage",
			"expose":` + exposure + `,
			"envFrom":[{"secretRef":{"name":"none","optional":true}}],
			"autoscaling":{"maxReplicas":2,"targetCPUUtilizationPercentage":70},
			"networkPolicy":{"isolation":"Namespace"},
			"monitoring":{"port":"http"}}}`
	}
	return patches
}

// usesEveryKind has a child of every kind made, and taken away again.
func (s *scene) usesEveryKind(namespace string) {
	s.Helper()
	patches := asksForEveryKind()
	for name := range patches {
		s.create(newEGApp(namespace, name, 1))
	}
	kinds := "configmaps,horizontalpodautoscalers,poddisruptionbudgets,networkpolicies,ingresses,httproutes,routes,servicemonitors"
	const each, exposures = 3, 3
	for name, patch := range patches {
		s.kubectl("patch", "egapp", name, "--namespace", namespace, "--type=merge", "--patch", patch)
	}
	s.eventually(shortWait, "a child of each kind is made", func(context.Context) error {
		return s.countsOurs(namespace, kinds, 5*each+exposures)
	})
	for name := range patches {
		s.kubectl("patch", "egapp", name, "--namespace", namespace, "--type=merge", "--patch",
			`{"spec":{"replicaCount":0,"expose":null,"envFrom":null,"autoscaling":null,"networkPolicy":null,"monitoring":null}}`)
	}
	s.eventually(shortWait, "the children are taken away", func(context.Context) error {
		return s.countsOurs(namespace, kinds, 0)
	})
}

// countsOurs fails unless there are as many objects of the kinds that the operator manages.
func (s *scene) countsOurs(namespace, kinds string, want int) error {
	names := strings.Fields(s.kubectl("get", kinds, "--namespace", namespace, "--output=name",
		"--selector="+workload.LabelManagedBy+"="+workload.ManagedBy))
	if len(names) != want {
		return fmt.Errorf("there are %d, want %d: %v", len(names), want, names)
	}
	return nil
}

// rightsUsedBy returns the rights that the requests of an account took, each as verb and resource.
func (s *scene) rightsUsedBy(a account) map[string]bool {
	s.Helper()
	used := map[string]bool{}
	for _, r := range s.requestsOf(a) {
		used[r.Verb+" "+r.Resource] = true
		if r.Verb == "patch" && r.Code == http.StatusCreated {
			used["create "+r.Resource] = true
		}
	}
	return used
}

// granted returns the rights of a cluster role, each as verb and resource.
func (s *scene) granted(name string) map[string]bool {
	s.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.get(role)
	granted := map[string]bool{}
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					granted[verb+" "+audit.Qualified(group, resource)] = true
				}
			}
		}
	}
	if len(granted) == 0 {
		s.Fatal(errors.New("the role grants nothing"))
	}
	return granted
}
