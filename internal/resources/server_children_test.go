// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"path/filepath"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// N38 and every other golden case: the server takes each child, stores of the optional kinds
// exactly what is applied, and has nothing to write when it is applied again.
func TestServerStoresWhatIsApplied(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*/input.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no cases in testdata: %v", err)
	}
	seen := map[string]bool{}
	for _, input := range inputs {
		folder := filepath.Dir(input)
		scene := readScene(t, folder)
		w, err := readWorkload(t, input, scene.options())
		if err != nil {
			continue
		}
		t.Run(filepath.Base(folder), func(t *testing.T) {
			c, namespace := newNamespace(t)
			for _, child := range resources.Desired(w, scene.observed()) {
				seen[child.Kind] = true
				applied, stored := applyChild(t, c, namespace, child)
				if t.Failed() {
					continue
				}
				if isOptional(child.Kind) {
					if paths := missing("", applied.Object, withoutServersOwn(stored).Object); len(paths) > 0 {
						t.Errorf("the stored %s differs, so that it would be written for ever: %s", child.Kind, describe(paths))
					}
				}
				version := stored.GetResourceVersion()
				if _, again := applyChild(t, c, namespace, child); again.GetResourceVersion() != version {
					t.Errorf("the second apply of the %s is a write", child.Kind)
				}
			}
		})
	}
	for _, kind := range resources.Kinds {
		if !seen[kind.Name] && !t.Failed() {
			t.Errorf("no golden case has a %s", kind.Name)
		}
	}
}

func isOptional(kind string) bool {
	return slices.ContainsFunc(resources.Kinds, func(k resources.Kind) bool { return k.Name == kind && k.Optional })
}

// withoutServersOwn leaves out the list that only the server writes.
func withoutServersOwn(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	return object
}

// A sample of all that is valid: the server would take it.
func TestServerTakesAnyValidApplication(t *testing.T) {
	c, namespace := newNamespace(t)
	const samples = 40
	for i := range samples {
		// What a seed draws is the same each time, so that a failure can be repeated.
		w := anyWorkload.Filter(func(w workload.Workload) bool { return w.Owner.Name != "" }).Example(i)
		o := anyObserved.Example(i)
		for _, optional := range resources.Kinds {
			if optional.Optional {
				o.Platform.Kinds[optional.Name] = true
			}
		}
		for _, child := range resources.Desired(w, o) {
			applyChild(t, c, namespace, child, client.DryRunAll)
			if t.Failed() {
				t.Fatalf("sample %d", i)
			}
		}
	}
}

// A change between the two strategies leaves nothing behind that the server refuses.
func TestStrategyChangesBothWays(t *testing.T) {
	render := func(strategy v1alpha1.RolloutStrategy) resources.Child {
		w := mustTranslate(t, &v1alpha1.EGApp{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1"},
			Spec: v1alpha1.EGAppSpec{
				Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, Rollout: &v1alpha1.Rollout{Strategy: strategy},
			},
		})
		children := resources.Desired(w, workload.Observed{})
		return children[slices.IndexFunc(children, func(c resources.Child) bool { return c.Kind == workload.KindDeployment })]
	}
	c, namespace := newNamespace(t)
	for _, strategy := range []v1alpha1.RolloutStrategy{
		v1alpha1.RolloutStrategyRollingUpdate, v1alpha1.RolloutStrategyRecreate, v1alpha1.RolloutStrategyRollingUpdate, v1alpha1.RolloutStrategyRecreate,
	} {
		applyChild(t, c, namespace, render(strategy))
		live := &appsv1.Deployment{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "orders"}, live); err != nil {
			t.Fatal(err)
		}
		if string(live.Spec.Strategy.Type) != string(strategy) || (live.Spec.Strategy.RollingUpdate != nil) != (strategy == v1alpha1.RolloutStrategyRollingUpdate) {
			t.Errorf("the strategy is %+v, want %s", live.Spec.Strategy, strategy)
		}
	}
}

// Each change of a Service's type but that of an address to none is taken as it is, and what
// the former type had goes.
func TestServiceTypeChangesInPlace(t *testing.T) {
	types := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer}
	render := func(kind corev1.ServiceType) resources.Child {
		w := scaledWorkload(1, nil)
		w.Owner.Kind, w.Owner.Group, w.Owner.Version = "EGApp", "g", "v1"
		w.Ports = []workload.Port{{Name: "http", ContainerPort: 8080, ServicePort: 80, Protocol: corev1.ProtocolTCP}}
		w.Service = &workload.Service{Type: kind}
		children := resources.Desired(w, workload.Observed{})
		return children[slices.IndexFunc(children, func(c resources.Child) bool { return c.Kind == "Service" })]
	}
	for _, from := range types {
		for _, to := range types {
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				c, namespace := newNamespace(t)
				applyChild(t, c, namespace, render(from))
				applyChild(t, c, namespace, render(to))
				live := &corev1.Service{}
				if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "orders"}, live); err != nil {
					t.Fatal(err)
				}
				if live.Spec.Type != to || (live.Spec.Ports[0].NodePort != 0) != (to != corev1.ServiceTypeClusterIP) {
					t.Errorf("the Service is %s with the node port %d", live.Spec.Type, live.Spec.Ports[0].NodePort)
				}
			})
		}
	}
}
