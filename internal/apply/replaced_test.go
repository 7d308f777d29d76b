// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// An apply names the object that it was decided on by its UID. When somebody has put another one under its name meanwhile, the
// API server refuses it, of some kinds as a conflict and of some as a broken rule: either way the operator has to look again.
func TestAnObjectThatTookTheNameMeanwhileIsNoFailure(t *testing.T) {
	t.Parallel()
	for _, kind := range resources.Kinds {
		if kind.Name == string(workload.ExposureHTTPRoute) || kind.Name == string(workload.ExposureRoute) {
			continue // One kind at a time exposes an application.
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			everything(s, workload.ExposureIngress)
			s.settle()
			seen := s.observe()
			child, ok := seen.Children[kind.Name].(client.Object)
			if !ok {
				t.Fatalf("there is no %s", kind.Name)
			}
			theirs, ok := child.DeepCopyObject().(client.Object)
			if !ok {
				t.Fatal("no object")
			}
			s.must(s.user.Delete(t.Context(), child, client.PropagationPolicy(metav1.DeletePropagationBackground)))
			theirs.SetUID("")
			theirs.SetResourceVersion("")
			theirs.SetOwnerReferences(nil)
			theirs.SetLabels(map[string]string{"app": "theirs"})
			if service, ok := theirs.(*corev1.Service); ok {
				service.Spec.ClusterIP, service.Spec.ClusterIPs = "", nil
			}
			s.must(s.user.Create(t.Context(), theirs))
			s.w.Owner.Labels = map[string]string{"team": "a"}

			applied, err := s.turnOn(seen)
			if applied.Failure != nil || !apierrors.IsConflict(err) {
				t.Errorf("the failure is %+v, the error %v; want none and a conflict", applied.Failure, err)
			}
			if got := s.child(kind.Name).GetLabels(); got["app"] != "theirs" || got["team"] != "" {
				t.Errorf("the object of somebody else was changed: its labels are %v", got)
			}
		})
	}
}
