// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

func hasChild(children []resources.Child, kind string) bool {
	return slices.ContainsFunc(children, func(c resources.Child) bool { return c.Kind == kind })
}

// A kind that the operator may not write is refused on a cluster, however well it renders.
func TestEachKindHasARight(t *testing.T) {
	files, err := filepath.Glob("../../controllers/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no controllers: %v", err)
	}
	var markers strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if strings.HasPrefix(line, "// +kubebuilder:rbac:") && strings.Contains(line, "create") && strings.Contains(line, "patch") &&
				// No application is without a Deployment: none is pruned.
				(strings.Contains(line, "delete") || strings.Contains(line, "resources=deployments")) {
				markers.WriteString(line)
			}
		}
	}
	for _, kind := range resources.Kinds {
		plural := strings.ToLower(kind.Name) + "s"
		switch {
		case strings.HasSuffix(kind.Name, "y"):
			plural = strings.TrimSuffix(plural, "ys") + "ies"
		case strings.HasSuffix(kind.Name, "ss"):
			plural = strings.ToLower(kind.Name) + "es"
		}
		if !strings.Contains(markers.String(), plural) {
			t.Errorf("no marker in controllers lets the operator create, patch and delete %s", plural)
		}
	}
}

// Each kind is made for some application, and no child of an API that the cluster lacks.
func TestEachKindIsRenderedWhereItsAPIIs(t *testing.T) {
	rendered := map[string]bool{}
	// Each seed gives the same application every time, so that luck does not decide which kinds are tried.
	for seed := 0; seed < 10000 && len(rendered) < len(resources.Kinds); seed++ {
		for _, child := range resources.Desired(anyWorkload.Example(seed), anyObserved.Example(seed)) {
			rendered[child.Kind] = true
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		o := anyObserved.Draw(t, "observed")
		for _, child := range resources.Desired(anyWorkload.Draw(t, "workload"), o) {
			for _, kind := range resources.Kinds {
				if kind.Name == child.Kind && kind.Optional && !o.Platform.Kinds[child.Kind] {
					t.Errorf("a %s is wanted, but the cluster has none", child.Kind)
				}
			}
		}
	})
	for _, kind := range resources.Kinds {
		if !rendered[kind.Name] {
			t.Errorf("no application of all that were tried has a %s", kind.Name)
		}
	}
}

func TestReplicasAreAbsentExactlyWhenAnAutoscalerHasThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, o := anyWorkload.Draw(t, "workload"), anyObserved.Draw(t, "observed")
		children := resources.Desired(w, o)
		live := o.Deployment()
		runs := live != nil && live.Spec.Replicas != nil && *live.Spec.Replicas > 0
		absent := deploymentOf(t, children).Spec.Replicas == nil
		switch {
		case absent && !w.IsAutoscaled(o):
			t.Error("nobody says how many pods run")
		case !absent && w.IsAutoscaled(o) && runs:
			t.Error("the operator says how many pods run, and an autoscaler does")
		}
		if wants := hasChild(children, workload.KindHorizontalPodAutoscaler); wants && (w.Replicas == 0 || len(o.Autoscalers) > 0) {
			t.Error("an autoscaler is made for what is stopped, or beside another, which stops both")
		}
	})
}

// N20: a sidecar without requests must not blind the autoscaler.
func TestAutoscalerLooksAtTheApplicationsContainer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, o := anyWorkload.Draw(t, "workload"), anyObserved.Draw(t, "observed")
		children := resources.Desired(w, o)
		hpa := &autoscalingv2.HorizontalPodAutoscaler{}
		if !readChild(t, children, workload.KindHorizontalPodAutoscaler, hpa) {
			return
		}
		pod := deploymentOf(t, children).Spec.Template.Spec
		if len(hpa.Spec.Metrics) == 0 {
			t.Error("the autoscaler looks at nothing")
		}
		for _, metric := range hpa.Spec.Metrics {
			source := metric.ContainerResource
			if source == nil {
				t.Fatalf("the metric is of type %s", metric.Type)
			}
			i := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == source.Container })
			if i != 0 {
				t.Fatalf("container %q is the one with index %d", source.Container, i)
			}
			if request := pod.Containers[0].Resources.Requests[source.Name]; request.IsZero() {
				t.Errorf("the target is a share of the request of %s, but there is none", source.Name)
			}
		}
		if ref := hpa.Spec.ScaleTargetRef; ref != (autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: w.Owner.Name}) {
			t.Errorf("it scales %v", ref)
		}
		if *hpa.Spec.MinReplicas < 1 || *hpa.Spec.MinReplicas > hpa.Spec.MaxReplicas {
			t.Errorf("it scales from %d to %d", *hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas)
		}
	})
}

// N41: at every number of pods one at least may be evicted, whether all serve or not; and the
// budget does not depend on how many run, so that it does not come and go.
func TestDisruptionBudgetNeverBlocksADrain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkload.Draw(t, "workload")
		children := resources.Desired(w, anyObserved.Draw(t, "observed"))
		pdb := &policyv1.PodDisruptionBudget{}
		has := readChild(t, children, "PodDisruptionBudget", pdb)
		if has != (w.Disruption != nil && w.Replicas > 0) {
			t.Errorf("there is a budget: %t", has)
		}
		if !has {
			return
		}
		for pods := 1; pods <= 200; pods++ {
			// As the disruption controller rounds it.
			allowed, err := intstr.GetScaledValueFromIntOrPercent(pdb.Spec.MaxUnavailable, pods, true)
			if err != nil || allowed < 1 {
				t.Fatalf("of %d pods %d may be evicted (%v)", pods, allowed, err)
			}
		}
		if pdb.Spec.MinAvailable != nil || pdb.Spec.UnhealthyPodEvictionPolicy == nil || *pdb.Spec.UnhealthyPodEvictionPolicy != policyv1.AlwaysAllow {
			t.Errorf("a pod that does not serve may block a drain: %+v", pdb.Spec)
		}
		if got := metav1.FormatLabelSelector(pdb.Spec.Selector); got != labels.SelectorFromSet(w.Owner.Selector()).String() {
			t.Errorf("the budget is for %s", got)
		}
	})
}

// N17, N36, N37: everything that leads to the application ends at a port that it has.
func TestEveryWayEndsAtAPort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, o := anyWorkload.Draw(t, "workload"), anyObserved.Draw(t, "observed")
		children := resources.Desired(w, o)
		service := &corev1.Service{}
		hasService := readChild(t, children, "Service", service)
		byName := map[string]corev1.ServicePort{}
		type served struct {
			number   int32
			protocol corev1.Protocol
		}
		seen := map[served]bool{}
		for _, port := range service.Spec.Ports {
			byName[port.Name] = port
			if port.TargetPort.Type != intstr.Int || port.TargetPort.IntVal == 0 {
				t.Errorf("port %s leads to %s, which two containers may have", port.Name, port.TargetPort.String())
			}
			key := served{port.Port, port.Protocol}
			if seen[key] {
				t.Errorf("two ports are served at %v", key)
			}
			seen[key] = true
		}
		if hasService && len(byName) != len(w.Ports) {
			t.Errorf("the Service has %d ports, the application %d", len(byName), len(w.Ports))
		}
		monitor := &monitoringv1.ServiceMonitor{}
		if readChild(t, children, "ServiceMonitor", monitor) {
			if _, ok := byName[monitor.Spec.Endpoints[0].Port]; !ok {
				t.Errorf("metrics are scraped at the port %q, which the Service lacks", monitor.Spec.Endpoints[0].Port)
			}
			selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
			if err != nil || !selector.Matches(labels.Set(service.Labels)) {
				t.Errorf("the selector %s does not match the Service's labels %v (%v)", selector, service.Labels, err)
			}
		}
		if w.Exposure != nil {
			port, ok := byName[w.Exposure.Port.Name]
			if !ok || port.Protocol != corev1.ProtocolTCP {
				t.Errorf("the port %+v is exposed, the Service has %+v", w.Exposure.Port, port)
			}
		}
	})
}

// N30: pods that mount a claim that one node at a time may use do not wait for each other
// for ever.
func TestClaimsOfOneNodeEndTheOldPodsFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, o := anyWorkload.Draw(t, "workload"), anyObserved.Draw(t, "observed")
		strategy := deploymentOf(t, resources.Desired(w, o)).Spec.Strategy
		waits := slices.ContainsFunc(w.References.Claims, func(name string) bool {
			claim, ok := o.Claims[name]
			return !ok || claim.OneNode
		})
		want := w.Rollout.Strategy
		switch {
		case want == "" && waits:
			want = appsv1.RecreateDeploymentStrategyType
		case want == "":
			want = appsv1.RollingUpdateDeploymentStrategyType
		}
		if strategy.Type != want || (strategy.RollingUpdate != nil) != (want == appsv1.RollingUpdateDeploymentStrategyType) {
			t.Errorf("the strategy is %+v, want %s", strategy, want)
		}
	})
}
