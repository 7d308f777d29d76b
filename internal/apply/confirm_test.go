// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/apply"
	"platformapp/internal/workload"
)

// unconfirmedWrites are the writes that a view of the past must not lead to, by what leads to them.
var unconfirmedWrites = map[string]func(*stage){
	"a child that is missing is made": func(s *stage) {
		s.must(s.user.Delete(s.Context(), s.child("Service")))
	},
	"a child more is made":       func(s *stage) { s.w.Disruption = new(intstr.FromInt32(1)) },
	"a child is deleted":         func(s *stage) { s.w.Service = nil },
	"a child is replaced":        func(s *stage) { s.w.Service.Headless = true },
	"a process writes a child":   func(s *stage) { s.restart(); s.w.Container.Image = "registry.example.com/orders:2" },
	"a process repairs a child":  func(s *stage) { s.restart(); s.editedPort() },
	"an owner reference is lost": func(s *stage) { s.orphan("Deployment") },
	"all owner references are lost, and the process is new": func(s *stage) {
		s.restart()
		s.orphan("Deployment")
		s.orphan("Service")
	},
	"a process hands the number of pods over": func(s *stage) {
		s.w.Autoscaling = autoscaling(2, 10)
		s.settle()
		s.scale(7)
		s.restart()
		s.w.Autoscaling = nil
	},
	"objects of somebody else are adopted": func(s *stage) {
		s.restored()
		s.consent("Deployment", "Service")
	},
}

// editedPort changes a port of the Service.
func (s *stage) editedPort() {
	s.Helper()
	edit(s, "Service", func(service *corev1.Service) { service.Spec.Ports[0].Port = 81 })
}

// orphan takes the owner references off a child, as garbage collection does when the owner is deleted without it.
func (s *stage) orphan(kind string) {
	s.Helper()
	object, ok := s.child(kind).DeepCopyObject().(client.Object)
	if !ok {
		s.Fatalf("there is no %s", kind)
	}
	object.SetOwnerReferences(nil)
	s.must(s.user.Update(s.Context(), object, client.FieldOwner("kube-controller-manager")))
}

// What is decided by an owner that is gone, or is another by now, is not written: the turn ends as if nothing had been.
func TestNothingIsWrittenForAnOwnerOfThePast(t *testing.T) {
	t.Parallel()
	for name, lead := range unconfirmedWrites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.settle()
			lead(s)
			s.unconfirmed, s.asked, s.ended = apply.ErrOutdated, 0, nil
			writes, before := len(s.writes), s.observe().Children
			applied, err := s.turn()
			if !errors.Is(err, apply.ErrOutdated) || applied.Failure != nil {
				t.Errorf("the turn ends with %v and tells %+v", err, applied.Failure)
			}
			s.wantWrites(writes)
			if s.asked != 1 || len(s.ended) > 0 {
				t.Errorf("it asks %d times, and waits for the end of %v", s.asked, s.ended)
			}
			if diff := cmp.Diff(before, s.observe().Children); diff != "" {
				t.Errorf("the children are others (-want +got):\n%s", diff)
			}
			s.unconfirmed = nil
			s.settle()
			s.atRest()
		})
	}
}

// At rest, after a restart too, and when it writes on to what it has written, a process asks for nothing.
func TestTheOwnerIsConfirmedOnlyBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settle()
	s.asked = 0
	s.atRest()
	if s.asked != 0 {
		t.Errorf("at rest it asks %d times", s.asked)
	}
	s.w.Container.Image = "registry.example.com/orders:2"
	s.settle()
	if s.asked != 1 {
		t.Errorf("for the first write of a process it asks %d times", s.asked)
	}
	s.w.Container.Image = "registry.example.com/orders:3"
	s.settle()
	edit(s, "Deployment", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) })
	s.settle()
	if s.asked != 1 {
		t.Errorf("for the writes after that it asks %d times", s.asked-1)
	}
	s.editedPort()
	s.settle()
	if s.asked != 2 {
		t.Errorf("for the first write to another child it asks %d times", s.asked-1)
	}
}

// Why the owner is not known is told as the failure of a write is.
func TestAnOwnerThatCannotBeConfirmedIsAFailure(t *testing.T) {
	t.Parallel()
	egapps := schema.GroupResource{Group: "egplatform.platform.evillgenius.com", Resource: "egapps"}
	missing := apierrors.NewForbidden(egapps, "orders", errors.New(`User "operator" cannot get resource "egapps"`))
	for name, test := range map[string]struct {
		err  error
		want workload.FailureReason
	}{
		"a right is missing":   {missing, workload.FailureForbidden},
		"the API server fails": {apierrors.NewInternalError(errors.New("no leader")), workload.FailureTransient},
	} {
		for _, what := range []string{"a child more is made", "a child is deleted"} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				s.settle()
				unconfirmedWrites[what](s)
				s.unconfirmed = test.err
				writes := len(s.writes)
				applied, err := s.turn()
				if !errors.Is(err, test.err) || applied.Failure == nil || applied.Failure.Reason != test.want {
					t.Errorf("the turn ends with %v and tells %+v, want %s", err, applied.Failure, test.want)
				}
				s.wantWrites(writes)
			})
		}
	}
}
