// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	routev1 "github.com/openshift/api/route/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// everywhere is a cluster that has every optional kind.
func everywhere() loopOption { return onPlatform(false, "HTTPRoute", "Route", "ServiceMonitor") }

// base is an EGApp with what is required, and what the fields below lean on.
const base = `{framework: go, environment: stage, replicaCount: 3}`

// fieldValues are two values for each field of an EGApp's specification, as YAML.
var fieldValues = map[string]struct{ first, second string }{
	"framework":          {"java", "python"},
	"environment":        {"dev", "prod"},
	"instanceType":       {"highMem", "highCPU"},
	"replicaCount":       {"5", "0"},
	"appId":              {"app-1", "app-2"},
	"image":              {"registry.example.com/a:1", "registry.example.com/b:2"},
	"imagePullPolicy":    {"Always", "Never"},
	"imagePullSecrets":   {"[{name: a}, {name: b}]", "[{name: b}]"},
	"command":            {"[/bin/a, x]", "[/bin/b]"},
	"args":               {"[a, b]", "[b]"},
	"env":                {"[{name: A, value: x}, {name: B, value: y}]", "[{name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"},
	"envFrom":            {"[{configMapRef: {name: settings}}]", "[{secretRef: {name: credentials, optional: true}, prefix: S_}]"},
	"ports":              {"[{name: http, containerPort: 9000, servicePort: 80}, {name: dns, containerPort: 53, protocol: UDP}]", "[{name: http, containerPort: 9001}]"},
	"service":            {"{annotations: {metallb.io/a: x}}", "{type: None}"},
	"resources":          {"{limits: {cpu: 500m, memory: 1Gi}}", "{requests: {cpu: 50m}}"},
	"probes":             {"{path: /healthz}", "{path: /alive, liveness: {periodSeconds: 33}}"},
	"autoscaling":        {"{minReplicas: 1, maxReplicas: 6, targetCPUUtilizationPercentage: 70}", "{minReplicas: 3, maxReplicas: 4, targetMemoryUtilizationPercentage: 60}"},
	"expose":             {"{type: Ingress, hosts: [a.example.com], paths: [{path: /}, {path: /api}]}", "{hosts: [b.example.com], httpRoute: {gatewayRef: {name: public}}}"},
	"files":              {"[{mountPath: /etc/a, configMap: {name: settings}}, {mountPath: /tmp, emptyDir: {}}]", "[{mountPath: /etc/b, secret: {secretName: credentials}}]"},
	"serviceAccountName": {"robot", "android"},
	"securityProfile":    {"Baseline", "Restricted"},
	"monitoring":         {"{port: http}", "{port: http, path: /m, interval: 15s, labels: {release: a}}"},
	"networkPolicy":      {"{isolation: Namespace}", "{isolation: Listed, from: [{app: billing}]}"},
	"rollout":            {"{strategy: Recreate}", "{strategy: RollingUpdate, progressDeadlineSeconds: 77}"},
	"podTemplatePatch":   {`{metadata: {annotations: {example.com/a: x}}, spec: {containers: [{name: sidecar, image: "proxy:1"}], tolerations: [{key: a, operator: Exists}]}}`, `{spec: {initContainers: [{name: init, image: "init:1"}], terminationGracePeriodSeconds: 7}}`},
}

func TestThereAreValuesForEachField(t *testing.T) {
	fields := []string{"paused"} // C30
	for name := range fieldValues {
		fields = append(fields, name)
	}
	var want []string
	for field := range reflect.TypeFor[v1alpha1.EGAppSpec]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		want = append(want, name)
	}
	slices.Sort(fields)
	slices.Sort(want)
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("(-fields of the specification +tested):\n%s", diff)
	}
}

// appOf is an EGApp with the specification.
func appOf(t testing.TB, spec ...string) *v1alpha1.EGApp {
	t.Helper()
	app := &v1alpha1.EGApp{ObjectMeta: metav1.ObjectMeta{Name: "orders"}}
	for _, part := range spec {
		set(t, app, part)
	}
	return app
}

// become gives an EGApp another specification and lets it come to serve.
func (l *loop) become(app *v1alpha1.EGApp, spec v1alpha1.EGAppSpec) map[string]string {
	l.Helper()
	l.change(app, func() { app.Spec = spec })
	l.come(app)
	l.takeUp(app)
	l.come(app)
	return l.comparable(app)
}

// takeUp plays gateways and routers: they take up what is to expose the application, in place of what did so before.
func (l *loop) takeUp(app *v1alpha1.EGApp) {
	l.Helper()
	httpRoute, route := &gatewayv1.HTTPRoute{}, &routev1.Route{}
	switch err := l.user.Get(l.ctx, client.ObjectKeyFromObject(app), httpRoute); {
	case err == nil:
		httpRoute.Status.Parents = nil
		for _, gateway := range httpRoute.Spec.ParentRefs {
			httpRoute.Status.Parents = append(httpRoute.Status.Parents, gatewayv1.RouteParentStatus{
				ParentRef: gateway, ControllerName: "example.com/gateway",
				Conditions: []metav1.Condition{{Type: "Accepted", Status: metav1.ConditionTrue, Reason: "Accepted", LastTransitionTime: metav1.Now()}},
			})
		}
		l.must(l.user.Status().Update(l.ctx, httpRoute))
	case !apierrors.IsNotFound(err):
		l.Fatal(err)
	}
	switch err := l.user.Get(l.ctx, client.ObjectKeyFromObject(app), route); {
	case err == nil:
		route.Status.Ingress = []routev1.RouteIngress{{Host: route.Spec.Host, RouterName: "default", Conditions: []routev1.RouteIngressCondition{
			{Type: routev1.RouteAdmitted, Status: corev1.ConditionTrue},
		}}}
		l.must(l.user.Status().Update(l.ctx, route))
	case !apierrors.IsNotFound(err):
		l.Fatal(err)
	}
}

// fresh makes an EGApp where there is nothing of it yet and returns its children.
func (l *loop) fresh(spec v1alpha1.EGAppSpec) map[string]string {
	l.Helper()
	app := appOf(l.TB)
	app.Spec = spec
	l.create(app)
	l.come(app)
	l.come(app)
	children := l.comparable(app)
	l.must(l.user.Delete(l.ctx, app))
	for _, child := range l.children(app) {
		l.must(l.user.Delete(l.ctx, child))
	}
	if _, err := l.turn(app); err != nil {
		l.Fatal(err)
	}
	return children
}

// comparable returns the children without the annotations that remember an autoscaler.
func (l *loop) comparable(app *v1alpha1.EGApp) map[string]string {
	l.Helper()
	return l.childrenOf(app, "platform.evillgenius.com/overridden-replicas", "platform.evillgenius.com/held-replicas")
}

// Each field that is set, changed and taken away leaves what never having set it does.
func TestAFieldThatIsTakenAwayLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(fieldValues)) {
		values := fieldValues[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLoop(t, everywhere())
			consent := map[string]string{"platform.evillgenius.com/allow-egapps": "true"}
			l.create(robot(consent))
			android := robot(consent)
			android.Name = "android"
			l.create(android)
			l.create(settingsMap(map[string]string{"level": "info"}))

			never := appOf(t, base).Spec
			first := appOf(t, base, name+": "+values.first).Spec
			second := appOf(t, base, name+": "+values.second).Spec
			wantNever, wantFirst, wantSecond := l.fresh(never), l.fresh(first), l.fresh(second)
			if cmp.Equal(wantNever, wantFirst) || cmp.Equal(wantFirst, wantSecond) {
				t.Error("the values make no difference")
			}
			app := appOf(t)
			app.Spec = never
			l.create(app)
			l.come(app)
			for _, step := range []struct {
				what string
				spec v1alpha1.EGAppSpec
				want map[string]string
			}{
				{"set", first, wantFirst}, {"changed", second, wantSecond}, {"changed back", first, wantFirst}, {"taken away", never, wantNever},
				{"set to the second value", second, wantSecond}, {"taken away again", never, wantNever},
			} {
				if diff := cmp.Diff(step.want, l.become(app, step.spec)); diff != "" {
					t.Errorf("%s: (-a fresh one +this one):\n%s", step.what, diff)
				}
			}
		})
	}
}

// pairs are choices such that any two values of two of them meet in one at least.
func pairs() []string {
	frameworks, environments := []string{"java", "python", "go"}, []string{"dev", "stage", "prod"}
	types, counts := []string{"lowMem", "highMem", "highCPU", "balanced"}, []int{0, 1, 3}
	var rows []string
	for i, instanceType := range types {
		for j, framework := range frameworks {
			rows = append(rows, fmt.Sprintf("{framework: %s, instanceType: %s, environment: %s, replicaCount: %d}",
				framework, instanceType, environments[(i+j)%3], counts[(2*i+j+i/3)%3]))
		}
	}
	return rows
}

func TestAllPairsOfChoicesAreTested(t *testing.T) {
	met := map[string]bool{}
	for _, row := range pairs() {
		spec := appOf(t, row).Spec
		values := []string{string(spec.Framework), string(spec.InstanceType), string(spec.Environment), fmt.Sprint(*spec.ReplicaCount)}
		for i := range values {
			for j := i + 1; j < len(values); j++ {
				met[values[i]+" "+values[j]] = true
			}
		}
	}
	if want := 3*4 + 3*3 + 3*3 + 4*3 + 4*3 + 3*3; len(met) != want {
		t.Errorf("%d pairs of values meet, want %d", len(met), want)
	}
}

// Each change from one set of choices to another ends where the other alone does.
func TestEachChangeOfChoicesEndsAsAFreshOne(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	var specs []v1alpha1.EGAppSpec
	var want []map[string]string
	for _, row := range pairs() {
		spec := appOf(t, row).Spec
		specs = append(specs, spec)
		want = append(want, l.fresh(spec))
	}
	for i := range specs {
		t.Run(pairs()[i], func(t *testing.T) {
			t.Parallel()
			l := newLoop(t)
			app := appOf(t)
			app.Spec = *specs[i].DeepCopy()
			l.create(app)
			l.come(app)
			walk := func(to int) {
				t.Helper()
				l.change(app, func() { app.Spec = *specs[to].DeepCopy() })
				l.come(app)
				if diff := cmp.Diff(want[to], l.comparable(app)); diff != "" {
					t.Fatalf("to %s: (-a fresh one +this one):\n%s", pairs()[to], diff)
				}
			}
			for j := i + 1; j < len(specs); j++ {
				walk(j)
				walk(i)
			}
		})
	}
}

// Property 11: a specification that breaks a rule stops, and a good one resumes.
func TestGoodBadGoodEndsAsGood(t *testing.T) {
	t.Parallel()
	l := newLoop(t, everywhere())
	l.withEverything()
	app := everythingApp(t)
	good := *app.Spec.DeepCopy()
	l.create(app)
	l.come(app)
	l.come(app)
	want := l.childrenOf(app)
	for name, bad := range map[string]string{
		"an image that cannot be pulled": `image: "nginx:"`,
		"a patch that moves to a node":   `podTemplatePatch: {spec: {nodeName: there}}`,
		"a patch that is none":           `podTemplatePatch: {spec: {containers: 7}}`,
		"an unknown field":               `podTemplatePatch: {spec: {restartpolicy: Always}}`,
		"a port that is not there":       `expose: {hosts: [a.example.com], port: nowhere}`,
		"a ServiceAccount that denies":   `serviceAccountName: nobody`,
	} {
		t.Run(name, func(t *testing.T) {
			spec := appOf(t)
			spec.Spec = *good.DeepCopy()
			set(t, spec, bad)
			spec.Spec.ReplicaCount = new(int32(0))
			l.change(app, func() { app.Spec = spec.Spec })
			l.reconcile(app)
			if !meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionStalled) {
				t.Errorf("it is not Stalled: %v", app.Status.Conditions)
			}
			if diff := cmp.Diff(want, l.childrenOf(app)); diff != "" {
				t.Errorf("a bad specification changes children:\n%s", diff)
			}
			l.change(app, func() { app.Spec = *good.DeepCopy() })
			l.come(app)
			if diff := cmp.Diff(want, l.childrenOf(app)); diff != "" {
				t.Errorf("the good specification does not end as before:\n%s", diff)
			}
			if meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionStalled) {
				t.Errorf("it is still Stalled: %v", app.Status.Conditions)
			}
		})
	}
}
