// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// everything sets each field of an EGApp's specification but paused, so that every kind
// of child is there on a cluster that has it.
const everything = `
appId: app-00123
framework: java
environment: prod
instanceType: balanced
replicaCount: 3
image: registry.example.com/team/app:1.2
imagePullPolicy: Always
imagePullSecrets: [{name: registry}]
command: [/bin/app]
args: ["--serve", "--verbose"]
env:
- {name: LEVEL, valueFrom: {configMapKeyRef: {name: settings, key: level}}}
- {name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
- {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
- {name: EMPTY, value: ""}
envFrom:
- configMapRef: {name: settings}
- {prefix: SECRET_, secretRef: {name: credentials, optional: true}}
ports:
- {name: http, containerPort: 8080, servicePort: 80}
- {name: metrics, containerPort: 9090}
- {name: dns, containerPort: 5353, servicePort: 53, protocol: UDP}
service: {annotations: {metallb.io/address-pool: a}}
resources: {requests: {cpu: 250m}, limits: {memory: 2048Mi}}
probes: {path: /healthz, port: http, liveness: {periodSeconds: 20}}
autoscaling: {minReplicas: 2, maxReplicas: 6, targetCPUUtilizationPercentage: 70, targetMemoryUtilizationPercentage: 80}
expose: {hosts: [orders.example.com], paths: [{path: /}], port: http}
files:
- {mountPath: /etc/app, readOnly: true, configMap: {name: settings, items: [{key: level, path: level}]}}
- {mountPath: /etc/keys, secret: {secretName: credentials, optional: true}}
- {mountPath: /data, persistentVolumeClaim: {claimName: data}}
- {mountPath: /scratch, emptyDir: {sizeLimit: 1Gi}}
serviceAccountName: robot
securityProfile: Baseline
monitoring: {port: metrics, path: /metrics, interval: 30s, labels: {release: prometheus}}
networkPolicy: {isolation: Listed, from: [{app: billing}, {app: shop, namespace: shops}]}
rollout: {strategy: Recreate, progressDeadlineSeconds: 900, configChangePolicy: Restart}
podTemplatePatch:
  metadata: {annotations: {example.com/inject: "true"}}
  spec:
    initContainers: [{name: migrate, image: "migrate:1"}]
    containers: [{name: sidecar, image: "proxy:1"}]
    tolerations: [{key: dedicated, operator: Exists}]
    topologySpreadConstraints:
    - {maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
`

// platforms are clusters, with what an EGApp sets to be exposed there and the kind that
// it is exposed by.
var platforms = map[string]struct {
	option loopOption
	expose string
	kind   string
}{
	"plain":     {onPlatform(false, "ServiceMonitor"), `{}`, "Ingress"},
	"gateway":   {onPlatform(false, "HTTPRoute", "ServiceMonitor"), `expose: {hosts: [orders.example.com], httpRoute: {gatewayRef: {name: public}}}`, "HTTPRoute"},
	"OpenShift": {onPlatform(true, "Route", "ServiceMonitor"), `{}`, "Route"},
}

func everythingApp(t testing.TB) *v1alpha1.EGApp {
	t.Helper()
	app := &v1alpha1.EGApp{ObjectMeta: metav1.ObjectMeta{Name: "orders"}}
	set(t, app, everything)
	return app
}

// withEverything makes what everythingApp refers to.
func (l *loop) withEverything() {
	l.Helper()
	l.create(robot(map[string]string{"platform.evillgenius.com/allow-egapps": "true"}))
	l.create(settingsMap(map[string]string{"level": "info"}))
	l.create(claimOf("data", corev1.ReadWriteOnce))
}

func TestEverythingSetsEachField(t *testing.T) {
	spec := reflect.ValueOf(everythingApp(t).Spec)
	for field, value := range spec.Fields() {
		if value.IsZero() && field.Name != "Paused" {
			t.Errorf("%s is not set", field.Name)
		}
	}
}

// Property 1: a steady state costs nothing, whatever is switched on, however often it is
// looked at, however much time goes by, and when the operator starts again.
func TestAnApplicationWithEverythingCostsNothingAtRest(t *testing.T) {
	t.Parallel()
	for name, p := range platforms {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, p.option)
			l.withEverything()
			app := everythingApp(t)
			set(t, app, p.expose)
			l.running(app)
			l.rollOut("orders")
			l.reconcile(app)
			if app.Status.Expose == nil || app.Status.Expose.Type != p.kind {
				t.Errorf("it is exposed by %+v, want a %s", app.Status.Expose, p.kind)
			}
			want := []string{
				"ConfigMap/orders-runtime-env", "Deployment/orders", "HorizontalPodAutoscaler/orders", p.kind + "/orders",
				"NetworkPolicy/orders", "PodDisruptionBudget/orders", "Service/orders", "ServiceMonitor/orders",
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(l.childrenOf(app)))); diff != "" {
				t.Errorf("its children are (-want +got):\n%s", diff)
			}
			if !meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionAvailable) {
				t.Errorf("it does not serve: %v", app.Status.Conditions)
			}
			if app.Status.Resources == nil || app.Status.Image == "" || app.Status.Selector == "" {
				t.Errorf("the status lacks something: %+v", app.Status)
			}
			before, writes := l.requests.list(), l.requests.writes()
			for range 200 {
				if _, err := l.turn(app); err != nil {
					t.Fatal(err)
				}
				l.clock.Step(time.Minute)
			}
			if after := l.requests.list(); len(after) != len(before) || l.requests.writes() != writes {
				t.Errorf("200 turns make requests: %v", after[len(before):])
			}
			restarted := l.restarted(p.option)
			restarted.reconcile(app)
			if n := restarted.requests.writes(); n != 0 {
				t.Errorf("%d writes after a restart: %v", n, restarted.requests.list())
			}
		})
	}
}

// N39: the exposure follows what the cluster has, and without a host nothing is exposed
// by what would catch the traffic of others.
func TestN39_WithoutAHostOnlyARouteExposes(t *testing.T) {
	t.Parallel()
	for name, p := range platforms {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, p.option)
			app := ordersApp()
			set(t, app, `expose: {}`)
			if name == "gateway" {
				set(t, app, `expose: {httpRoute: {gatewayRef: {name: public}}}`)
			}
			// The console's form leaves out what is empty.
			if app.Spec.Expose == nil {
				app.Spec.Expose = &v1alpha1.Expose{}
			}
			l.create(app)
			l.reconcile(app)
			l.rollOutIfThere("orders")
			l.reconcile(app)
			got := l.childrenOf(app)
			exposed := got["Ingress/orders"] != "" || got["HTTPRoute/orders"] != "" || got["Route/orders"] != ""
			if want := p.kind == "Route"; exposed != want {
				t.Errorf("it is exposed: %t, by %v", exposed, got)
			}
			if reason := reasonOf(app); p.kind != "Route" && reason != appstatus.ReasonExposeHostMissing && reason != appstatus.ReasonInvalidSpec {
				t.Errorf("the reason is %s: %s", reason, messageOf(app))
			}
			if p.kind != "Route" && !strings.Contains(messageOf(app), "host") {
				t.Errorf("%q does not name the rule", messageOf(app))
			}
		})
	}
}

// N22: marks of tools on an EGApp reach neither its children nor its pods.
func TestN22_MarksOfToolsStayOnTheEGApp(t *testing.T) {
	t.Parallel()
	l := newLoop(t, onPlatform(false, "HTTPRoute", "ServiceMonitor"))
	l.withEverything()
	app := everythingApp(t)
	app.Annotations = map[string]string{
		"argocd.argoproj.io/tracking-id":                   "track-me:apps/Deployment:team-a/orders",
		"kubectl.kubernetes.io/last-applied-configuration": "{last-applied-mark}",
	}
	app.Labels = map[string]string{
		"argocd.argoproj.io/instance": "argo-mark", "kustomize.toolkit.fluxcd.io/name": "flux-mark",
		"app.kubernetes.io/instance": "instance-mark", "tags.datadoghq.com/service": "datadog-mark", "cost-center": "42",
	}
	l.running(app)
	marks := []string{"track-me", "last-applied-mark", "argo-mark", "flux-mark", "instance-mark", "datadog-mark"}
	for child, content := range l.childrenOf(app) {
		for _, mark := range marks {
			if strings.Contains(content, mark) {
				t.Errorf("%s carries %s", child, mark)
			}
		}
		if !strings.Contains(content, `"cost-center":"42"`) {
			t.Errorf("%s lacks the user's own label", child)
		}
	}
	if strings.Contains(l.template("orders"), "cost-center") {
		t.Error("the label is on the pods, which would restart when it changes")
	}
	before := l.template("orders")
	for key := range app.Labels {
		l.change(app, func() { app.Labels[key] = "changed" })
		l.reconcile(app)
		if l.template("orders") != before {
			t.Errorf("a change of the label %s restarts the pods", key)
		}
	}
}

// N21: whatever scales an EGApp finds its pods by the scale subresource, in each state.
func TestN21_TheScaleSubresourceAlwaysSelectsOurPods(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	check := func(state string) {
		t.Helper()
		if got, want := l.scaleOf(app).Status.Selector, "platform.evillgenius.com/egapp=orders"; got != want {
			t.Errorf("of an application that is %s the selector is %q, want %q", state, got, want)
		}
	}
	l.create(app)
	l.reconcile(app)
	check("new")
	l.rollOut("orders")
	l.reconcile(app)
	check("running")
	l.change(app, func() { app.Spec.Paused = true })
	l.reconcile(app)
	check("paused")
	l.change(app, func() { app.Spec.Paused, app.Spec.ReplicaCount = false, new(int32(0)) })
	l.reconcile(app)
	l.rollOut("orders")
	l.reconcile(app)
	check("stopped")
	if app.Status.Phase != appstatus.PhaseStopped {
		t.Errorf("the phase is %s: %v", app.Status.Phase, app.Status.Conditions)
	}
	l.change(app, func() { set(t, app, `podTemplatePatch: {spec: {nodeName: there}}`) })
	l.reconcile(app)
	check("invalid")
}

// N41: a budget that is made and deleted at each step of an autoscaler costs writes.
func TestN41_ScalingWritesNothingButTheStatus(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	set(t, app, `{environment: prod, replicaCount: 1, autoscaling: {minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 70}}`)
	l.running(app)
	l.scale("orders", 1)
	l.reconcile(app)
	before := l.childrenOf(app)
	seen := len(l.requests.list())
	for range 10 {
		for _, n := range []int32{2, 1} {
			l.scale("orders", n)
			l.come(app)
		}
	}
	for _, request := range l.requests.list()[seen:] {
		if !strings.HasSuffix(request, "/egapps/orders/status") {
			t.Errorf("a request other than of the status: %s", request)
		}
	}
	after := l.childrenOf(app)
	if before["PodDisruptionBudget/orders"] == "" || before["PodDisruptionBudget/orders"] != after["PodDisruptionBudget/orders"] {
		t.Errorf("the budget was %s and is %s", before["PodDisruptionBudget/orders"], after["PodDisruptionBudget/orders"])
	}
}

// N30: a rolling update of pods that share a claim which only one node may use never ends.
func TestN30_TheStrategyFollowsTheClaim(t *testing.T) {
	t.Parallel()
	for mode, want := range map[corev1.PersistentVolumeAccessMode]string{
		corev1.ReadWriteOnce: "Recreate", corev1.ReadWriteOncePod: "Recreate", corev1.ReadWriteMany: "RollingUpdate", "": "Recreate",
	} {
		t.Run("N30 "+string(mode), func(t *testing.T) {
			l := newLoop(t)
			if mode != "" {
				l.create(claimOf("data", mode))
			}
			app := ordersApp()
			set(t, app, `{replicaCount: 1, files: [{mountPath: /data, persistentVolumeClaim: {claimName: data}}]}`)
			l.running(app)
			if got := l.deployment("orders").Spec.Strategy.Type; string(got) != want {
				t.Errorf("the strategy is %s, want %s", got, want)
			}
			set(t, app, `rollout: {strategy: RollingUpdate}`)
			l.must(l.user.Update(l.ctx, app))
			l.reconcile(app)
			if got := l.deployment("orders").Spec.Strategy.Type; got != "RollingUpdate" {
				t.Errorf("the strategy that the user chose is %s", got)
			}
		})
	}
}
