// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/internal/workload"
)

// What another controller has taken over since it was looked at is not deleted.
func TestOnlyWhatIsAsItWasSeenIsDeleted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*workload.Workload){
		"pruned":   func(w *workload.Workload) { w.Service = nil },
		"replaced": func(w *workload.Workload) { w.Service.Headless = true },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.settle()
			seen := s.observe()
			edit(s, "Service", func(service *corev1.Service) {
				service.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Taker", Name: "taker", UID: "taker", Controller: new(true)}}
			})
			before := s.child("Service")
			change(&s.w)
			applied, err := s.turnOn(seen)
			if !apierrors.IsConflict(err) || applied.Failure != nil {
				t.Errorf("the turn ends with %v and tells %+v, want a conflict alone, after which it looks again", err, applied.Failure)
			}
			if after := s.child("Service"); after == nil || after.GetUID() != before.GetUID() {
				t.Error("the object of somebody else is deleted")
			}
		})
	}
}
