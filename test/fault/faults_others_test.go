// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"platformapp/internal/workload"
)

func TestChildFaultsMeetWritesToChildrenAlone(t *testing.T) {
	for key, want := range map[string]int{
		"apply services": 2, "delete horizontalpodautoscalers.autoscaling": 2, "apply ingresses.networking.k8s.io": 3,
		// The pods go with a Deployment, and nobody else has a ServiceMonitor.
		"apply deployments.apps": 1, "apply servicemonitors.monitoring.coreos.com": 1,
		"patch egapps.egplatform.platform.evillgenius.com/status": 0, "list services": 0, "/apis": 0,
	} {
		if got := len(childFaults(Scenario{}, target{key, 1})); got != want {
			t.Errorf("%s meets %d faults, want %d", key, got, want)
		}
	}
	if got := len(childFaults(Scenario{TakenNames: 1}, target{"apply services", 1})); got != 1 {
		t.Errorf("a name that is taken is taken again: %d faults, want 1", got)
	}
}

func TestWhatTheOperatorHasWrittenIsNotForeign(t *testing.T) {
	object, err := foreignObject("Service")
	if err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	foreign := &unstructured.Unstructured{Object: content}
	v := View{objects: map[objectKey]*unstructured.Unstructured{{"Service", orders}: foreign}}
	if err := isForeign("Service", orders)(v); err != nil {
		t.Error(err)
	}
	if isForeign("Ingress", orders)(v) == nil {
		t.Error("what is not there counts as somebody else's")
	}
	managers := []any{map[string]any{"manager": workload.FieldManager, "operation": "Apply", "apiVersion": "v1"}}
	if err := unstructured.SetNestedSlice(foreign.Object, managers, "metadata", "managedFields"); err != nil {
		t.Fatal(err)
	}
	if isForeign("Service", orders)(v) == nil {
		t.Error("what the operator has written counts as somebody else's")
	}
}
