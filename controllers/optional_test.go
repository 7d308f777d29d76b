// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/controllers"
	"platformapp/internal/resources"
	"platformapp/internal/testutil"
)

// ownCluster runs a control plane for one test, without the optional kinds.
func ownCluster(t *testing.T) *rest.Config {
	t.Helper()
	environment := testutil.NewEnvironment(binaries, ownCRDs)
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Errorf("stop the control plane: %v", err)
		}
	})
	config.QPS = -1
	return config
}

// cutDiscovery fails the requests that look which APIs have come or gone while it is set;
// those by which a client finds the path of a kind are others.
type cutDiscovery struct{ atomic.Bool }

func (c *cutDiscovery) around(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if c.Load() && request.URL.Path == "/apis" && request.Header.Get("Accept") == discovery.AcceptV2 {
			return nil, errors.New("connection refused")
		}
		return next.RoundTrip(request)
	})
}

// optionalCRDs installs or removes the definitions of the optional kinds.
type optionalCRDs struct {
	*testing.T
	config *rest.Config
	paths  []string
}

func newOptionalCRDs(t *testing.T, config *rest.Config, kinds ...string) optionalCRDs {
	t.Helper()
	files, err := testutil.OptionalCRDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := optionalCRDs{T: t, config: config}
	for _, kind := range kinds {
		c.paths = append(c.paths, files[kind])
	}
	return c
}

func (c optionalCRDs) install() {
	c.Helper()
	if _, err := envtest.InstallCRDs(c.config, envtest.CRDInstallOptions{Paths: c.paths, ErrorIfPathMissing: true}); err != nil {
		c.Fatal(err)
	}
}

// uninstall asks for the end of the definitions.
func (c optionalCRDs) uninstall() {
	c.Helper()
	if err := envtest.UninstallCRDs(c.config, envtest.CRDInstallOptions{Paths: c.paths, ErrorIfPathMissing: true}); err != nil {
		c.Fatal(err)
	}
}

// remove returns when the definitions are gone.
func (c optionalCRDs) remove() {
	c.Helper()
	c.uninstall()
	crds, err := client.New(c.config, client.Options{Scheme: crdScheme(c.T)})
	if err != nil {
		c.Fatal(err)
	}
	eventually(c.T, func() error {
		var list apiextensionsv1.CustomResourceDefinitionList
		if err := crds.List(c.Context(), &list); err != nil {
			return err
		}
		if i := slices.IndexFunc(list.Items, func(crd apiextensionsv1.CustomResourceDefinition) bool {
			return !strings.HasSuffix(crd.Name, "evillgenius.com") && !strings.HasSuffix(crd.Name, "my.domain")
		}); i >= 0 {
			return fmt.Errorf("%s is still there", list.Items[i].Name)
		}
		return nil
	})
}

// exposedApp is an EGApp that is reached from outside by a gateway and is monitored.
func exposedApp(name string) *v1alpha1.EGApp {
	app := ordersApp()
	app.Name, app.Spec.AppID = name, ""
	app.Spec.Expose = &v1alpha1.Expose{
		Hosts:     []string{name + ".example.com"},
		HTTPRoute: &v1alpha1.ExposeHTTPRoute{GatewayRef: v1alpha1.GatewayRef{Name: "public"}},
	}
	app.Spec.Monitoring = &v1alpha1.Monitoring{Port: "http"}
	return app
}

func reasonOf(app *v1alpha1.EGApp) string {
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if ready == nil {
		return ""
	}
	return ready.Reason
}

func messageOf(app *v1alpha1.EGApp) string {
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if ready == nil {
		return ""
	}
	return ready.Message
}

func crdScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// Property 15: optional APIs come and go while the operator runs.
func TestOptionalAPIs(t *testing.T) {
	t.Parallel()
	config := ownCluster(t)
	t.Run("are used while they are there", func(t *testing.T) { areUsedWhileTheyAreThere(t, config) })
	t.Run("are missed at once when they go", func(t *testing.T) { areMissedAtOnce(t, config) })
	t.Run("hold up nobody else when they may not be read", func(t *testing.T) { holdUpNobodyElse(t, config) })
}

func areUsedWhileTheyAreThere(t *testing.T, config *rest.Config) {
	t.Helper()
	user, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{TB: t, ctx: t.Context(), user: user, namespace: makeNamespace(t, user)}
	crds := newOptionalCRDs(t, config, "HTTPRoute", "ServiceMonitor")
	cut, requests := &cutDiscovery{}, &requestLog{}
	run := func() (stop func()) {
		operator := rest.CopyConfig(config)
		operator.Wrap(func(next http.RoundTripper) http.RoundTripper { return requests.countedBy(cut.around(next)) })
		return startOperatorAt(t, operator, controllers.Options{MaxConcurrentReconciles: 2, DiscoveryPeriod: 100 * time.Millisecond})
	}

	cut.Store(true)
	stop := run()
	byGateway, byIngress := exposedApp("by-gateway"), exposedApp("by-ingress")
	byIngress.Spec.Expose.HTTPRoute = nil
	l.create(byGateway)
	l.create(byIngress)
	time.Sleep(time.Second)
	if n := requests.writes(); n != 0 {
		t.Errorf("%d writes before it is known which APIs there are: %v", n, requests.list())
	}
	cut.Store(false)

	route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: "by-gateway"}}
	monitor := &resources.ServiceMonitor{ServiceMonitor: monitoringv1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Name: "by-ingress"}}}
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: "by-ingress"}}
	isMissing := func() error {
		if err := errors.Join(l.user.Get(t.Context(), client.ObjectKeyFromObject(byGateway), byGateway), l.isRunning(byIngress)); err != nil {
			return err
		}
		if err := l.tryRollOut("by-gateway"); err != nil {
			return err
		}
		if reason := reasonOf(byGateway); reason != appstatus.ReasonExposeUnavailable || !meta.IsStatusConditionTrue(byGateway.Status.Conditions, appstatus.ConditionAvailable) {
			return fmt.Errorf("the application without its API is %s: %v", reason, byGateway.Status.Conditions)
		}
		if message := messageOf(byIngress); !strings.Contains(message, "ServiceMonitor") {
			return fmt.Errorf("%q does not tell of the missing ServiceMonitor", message)
		}
		return nil
	}
	areThere := func() error {
		for _, object := range []client.Object{route, monitor, ingress} {
			object.SetNamespace(l.namespace)
			if err := user.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				return err
			}
		}
		if err := user.Get(t.Context(), client.ObjectKeyFromObject(byGateway), byGateway); err != nil {
			return err
		}
		if reasonOf(byGateway) == appstatus.ReasonExposeUnavailable {
			return errors.New("the API still counts as absent")
		}
		return nil
	}
	eventually(t, isMissing)
	generation := l.deployment("by-gateway").Generation

	for round := range 2 {
		crds.install()
		eventually(t, areThere)
		crds.remove()
		eventually(t, isMissing)
		before := len(requests.list())
		time.Sleep(2 * time.Second)
		if after := requests.list()[before:]; len(after) > 0 {
			t.Errorf("round %d: after the APIs are gone there are requests: %v", round, after)
		}
	}
	crds.install()
	eventually(t, areThere)

	// While the APIs cannot be discovered, also not by a new process, nothing is taken away.
	uids := []string{string(route.UID), string(monitor.UID), string(ingress.UID)}
	cut.Store(true)
	l.change(byGateway, func() { byGateway.Spec.ReplicaCount = new(int32(5)) })
	eventually(t, func() error {
		if n := *l.deployment("by-gateway").Spec.Replicas; n != 5 {
			return fmt.Errorf("%d pods", n)
		}
		return nil
	})
	stop()
	stop = run()
	time.Sleep(time.Second)
	stop()
	l.must(areThere())
	if after := []string{string(route.UID), string(monitor.UID), string(ingress.UID)}; !slices.Equal(uids, after) {
		t.Errorf("the objects %v became %v", uids, after)
	}
	if g := l.deployment("by-gateway").Generation; g != generation+1 {
		t.Errorf("the Deployment has generation %d, want %d: nothing but the number of pods changed", g, generation+1)
	}
}

// The operator that looks for APIs once in an hour finds out by what it is refused that one
// goes, also while the end of its definition waits for somebody.
func areMissedAtOnce(t *testing.T, config *rest.Config) {
	t.Helper()
	user, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{TB: t, ctx: t.Context(), user: user, namespace: makeNamespace(t, user)}
	routes, monitors := newOptionalCRDs(t, config, "HTTPRoute"), newOptionalCRDs(t, config, "ServiceMonitor")
	routes.install()
	monitors.install()
	app := exposedApp("by-gateway")
	app.Spec.Monitoring = nil
	told, requests := l.reasonsOf(user), &requestLog{}
	operator := rest.CopyConfig(config)
	operator.Wrap(requests.countedBy)
	startOperatorAt(t, operator, controllers.Options{MaxConcurrentReconciles: 2, DiscoveryPeriod: time.Hour}, l.namespace)
	l.create(app)
	isReason := func(reason string) func() error {
		return func() error {
			if err := l.tryRollOut(app.Name); err != nil {
				return err
			}
			if err := user.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
				return err
			}
			return failsUnless(reasonOf(app) == reason, "it is %s: %s", reasonOf(app), messageOf(app))
		}
	}
	eventually(t, isReason(appstatus.ReasonExposePending))

	// Nobody uses this one: its watch alone tells.
	before := requests.discoveries()
	monitors.uninstall()
	eventually(t, func() error {
		return failsUnless(requests.discoveries() > before, "nobody looks for the API that is gone")
	})

	holder := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/hold"}}}
	l.create(holder)
	routes.uninstall()
	eventually(t, isReason(appstatus.ReasonExposeUnavailable))
	l.must(user.Patch(t.Context(), holder, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
	routes.remove()
	for _, reason := range told() {
		if reason == appstatus.ReasonRefused || reason == appstatus.ReasonApplyFailed {
			t.Errorf("it was told of as %s", reason)
		}
	}
	for _, message := range logged.list() {
		if strings.Contains(message, "could not find the requested resource") {
			t.Errorf("the log has an error: %s", message)
		}
	}
}

// discoveries is how often the operator has asked which APIs there are; its clients do so
// too, before their first requests.
func (r *requestLog) discoveries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, request := range r.requests {
		if request == "GET /apis" {
			n++
		}
	}
	return n
}

// reasonsOf returns a function that tells which reasons EGApps of the namespace had since.
func (l *loop) reasonsOf(user client.WithWatch) func() []string {
	l.Helper()
	events, err := user.Watch(l.ctx, &v1alpha1.EGAppList{}, client.InNamespace(l.namespace))
	l.must(err)
	reasons := make(chan []string, 1)
	go func() {
		var all []string
		for event := range events.ResultChan() {
			if app, ok := event.Object.(*v1alpha1.EGApp); ok {
				all = append(all, reasonOf(app))
			}
		}
		reasons <- all
	}()
	return func() []string {
		events.Stop()
		return <-reasons
	}
}

// logged are the errors that client-go has logged in this process.
var logged = &errorLog{}

type errorLog struct {
	mu       sync.Mutex
	messages []string
}

// catch begins to keep errors. It must run before client-go does.
func (e *errorLog) catch() {
	utilruntime.ErrorHandlers = append(utilruntime.ErrorHandlers, func(_ context.Context, err error, message string, _ ...any) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.messages = append(e.messages, fmt.Sprintf("%s: %v", message, err))
	})
}

func (e *errorLog) list() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.messages)
}
