// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

// scale sets the number of pods as an autoscaler does, by the scale subresource.
func (s *stage) scale(count int32) {
	s.Helper()
	deployment := s.deployment()
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: count}}
	s.must(s.user.SubResource("scale").Update(s.Context(), deployment, client.WithSubResourceBody(scale), client.FieldOwner("kube-controller-manager")))
}

// count is the number of pods that the Deployment is to run.
func (s *stage) count() int32 {
	s.Helper()
	return *s.deployment().Spec.Replicas
}

// neverBelow makes turns until one writes nothing and fails the test if the number of pods
// is below least after any write.
func (s *stage) neverBelow(least int32) {
	s.Helper()
	s.afterWrite = func() {
		deployment, ok := s.child("Deployment").(*appsv1.Deployment)
		if ok && *deployment.Spec.Replicas < least {
			s.Errorf("%d pods after %v", *deployment.Spec.Replicas, s.writes)
		}
	}
	defer func() { s.afterWrite = func() {} }()
	s.settle()
}

func (s *stage) wantCount(want int32) {
	s.Helper()
	if got := s.count(); got != want {
		s.Errorf("%d pods, want %d", got, want)
	}
}

func autoscaling(least, most int32) *workload.Autoscaling {
	return &workload.Autoscaling{MinReplicas: least, MaxReplicas: most, TargetCPU: new(int32(70))}
}

func TestC11_AutoscalingRemovedAndAddedAgainKeepsTheNumber(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.w.Autoscaling = autoscaling(2, 10)
	s.neverBelow(3)
	s.wantCount(3)
	s.scale(7)
	s.neverBelow(7)

	s.w.Autoscaling = nil
	s.neverBelow(7)
	s.wantCount(7)
	if s.child("HorizontalPodAutoscaler") != nil {
		t.Error("the autoscaler is still there")
	}
	s.atRest()

	s.w.Autoscaling = autoscaling(2, 10)
	s.neverBelow(7)
	s.wantCount(7)
	s.scale(8)
	s.neverBelow(8)
	s.atRest()

	s.w.Autoscaling = nil
	s.neverBelow(8)
	s.w.Replicas = 4
	s.neverBelow(4)
	s.wantCount(4)
	s.atRest()
	for _, annotation := range []string{workload.AnnotationOverriddenReplicas, workload.AnnotationHeldReplicas} {
		if value, ok := s.deployment().Annotations[annotation]; ok {
			t.Errorf("%s=%s is left behind", annotation, value)
		}
	}
	s.scale(9)
	if applied := s.settle(); len(applied.Repaired) != 1 {
		t.Errorf("repaired are %v", applied.Repaired)
	}
	s.wantCount(4)
}

// usersAutoscaler is a HorizontalPodAutoscaler that a user made by hand.
func (s *stage) usersAutoscaler(name string) *autoscalingv2.HorizontalPodAutoscaler {
	s.Helper()
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.w.Owner.Namespace, Name: name},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: s.w.Owner.Name},
			MaxReplicas:    10,
		},
	}
	s.must(s.user.Create(s.Context(), autoscaler))
	return autoscaler
}

func TestC12_AUsersAutoscalerIsLeftToItsWork(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settle()
	autoscaler := s.usersAutoscaler("mine")
	s.neverBelow(3)
	s.scale(5)
	s.neverBelow(5)
	s.wantCount(5)
	s.atRest()

	s.w.Replicas = 4
	s.neverBelow(5)
	s.wantCount(5)
	s.must(s.user.Delete(t.Context(), autoscaler))
	s.neverBelow(4)
	s.wantCount(4)
	s.atRest()
}

func TestAnOwnAutoscalerIsWithdrawnBesideAUsers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.w.Autoscaling = autoscaling(2, 10)
	s.settle()
	s.scale(6)
	autoscaler := s.usersAutoscaler("mine")
	s.neverBelow(6)
	if s.child("HorizontalPodAutoscaler") != nil {
		t.Error("two autoscalers are on one Deployment")
	}
	s.scale(7)
	s.neverBelow(7)
	s.atRest()
	s.must(s.user.Delete(t.Context(), autoscaler))
	s.neverBelow(7)
	if s.child("HorizontalPodAutoscaler") == nil {
		t.Error("the own autoscaler is not back")
	}
	s.wantCount(7)
	s.atRest()
}

func TestAnAutoscalerOfOthersMayScaleToZeroAndBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settle()
	s.usersAutoscaler("keda-hpa-orders")
	s.settle()
	for _, count := range []int32{0, 1, 0, 6} {
		s.scale(count)
		s.settle()
		s.wantCount(count)
		s.atRest()
	}
}

func TestC21_ZeroReplicasWinOverAutoscaling(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.w.Autoscaling = autoscaling(2, 10)
	s.settle()
	s.scale(7)
	s.settle()
	s.w.Replicas = 0
	s.settle()
	s.wantCount(0)
	if s.child("HorizontalPodAutoscaler") != nil {
		t.Error("an autoscaler is on a stopped application")
	}
	s.atRest()
	s.w.Replicas = 1
	s.settle()
	s.wantCount(2)
	if s.child("HorizontalPodAutoscaler") == nil {
		t.Error("the autoscaler is not back")
	}
	s.scale(5)
	s.atRest()
	s.wantCount(5)
}

func TestScalingTheDeploymentByHandIsDriftWithoutAnAutoscaler(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settle()
	for _, count := range []int32{9, 0} {
		s.scale(count)
		applied, err := s.turn()
		s.must(err)
		if len(applied.Repaired) != 1 {
			t.Errorf("repaired are %v", applied.Repaired)
		}
		s.wantCount(3)
	}
}

func TestAHandoverDecidedOnAnOlderNumberIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.settle()
	s.usersAutoscaler("mine")
	observed := s.observe()
	s.scale(8)
	applied, err := s.turnOn(observed)
	if !apierrors.IsConflict(err) || applied.Failure != nil {
		t.Errorf("the turn ends with %v, %v; want a conflict that nobody is told of", err, applied.Failure)
	}
	s.wantCount(8)
	s.neverBelow(8)
	s.wantCount(8)
}

// lives is what happens to an application that is scaled, step by step.
func lives(s *stage) []func() {
	var autoscaler *autoscalingv2.HorizontalPodAutoscaler
	return []func(){
		func() {},
		func() { s.w.Autoscaling = autoscaling(2, 10) },
		func() { s.scale(7) },
		func() { autoscaler = s.usersAutoscaler("mine") },
		func() { s.scale(6) },
		func() { s.must(s.user.Delete(s.Context(), autoscaler)); s.w.Autoscaling = nil },
		func() { s.w.Replicas = 4 },
		func() { s.w.Autoscaling = autoscaling(5, 5) },
		func() { s.w.Replicas = 0 },
		func() { s.w.Replicas, s.w.Autoscaling = 2, nil },
	}
}

func TestTheNumberConvergesWhereverTheOperatorIsStopped(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, stopAt int) ([]string, bool, int) {
		s := newStage(t)
		var counts []string
		wasStopped := false
		for _, step := range lives(s) {
			step()
			if !wasStopped {
				s.stopAt = stopAt
			}
			for range 10 {
				before := len(s.writes)
				_, err := s.turn()
				if s.stopped {
					wasStopped = true
					s.restart()
					continue
				}
				s.must(err)
				if len(s.writes) == before {
					break
				}
			}
			deployment := s.deployment()
			counts = append(counts, fmt.Sprint(*deployment.Spec.Replicas, s.child("HorizontalPodAutoscaler") != nil,
				deployment.Annotations[workload.AnnotationOverriddenReplicas], "/", deployment.Annotations[workload.AnnotationHeldReplicas]))
		}
		s.atRest()
		return counts, wasStopped, len(s.writes)
	}
	want, _, writes := run(t, 0)
	if len(want) != 10 || !strings.HasPrefix(want[2], "7") || !strings.HasPrefix(want[9], "2 false") {
		t.Fatalf("without a stop it is %v", want)
	}
	// To stop after a write is to stop before the next one.
	for at := 1; at <= writes; at++ {
		t.Run(fmt.Sprintf("before write %d", at), func(t *testing.T) {
			t.Parallel()
			got, wasStopped, _ := run(t, at)
			if !wasStopped {
				t.Fatal("the operator was never stopped")
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("step %d ends with %s, want %s", i, got[i], want[i])
				}
			}
		})
	}
}

func TestAChangeOfLabelsAloneIsNoNewGenerationToWaitFor(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	first := s.settle().Generation
	s.w.Owner.Labels = map[string]string{"cost-center": "42"}
	applied, err := s.turn()
	s.must(err)
	if got := s.deployment().Generation; got == first {
		t.Fatal("the server counts no new generation: the test shows nothing")
	}
	if applied.Generation != first || s.settle().Generation != first {
		t.Errorf("generation %d is waited for, want %d", applied.Generation, first)
	}
	s.w.Container.Image = "registry.example.com/orders:2"
	applied, err = s.turn()
	s.must(err)
	if got := s.deployment().Generation; applied.Generation != got {
		t.Errorf("generation %d is waited for after a change of the image, want %d", applied.Generation, got)
	}
	edit(s, "Deployment", func(d *appsv1.Deployment) { d.Spec.Paused = true })
	if got := s.settle().Generation; got != s.deployment().Generation {
		t.Errorf("generation %d is waited for after a change by others, want %d", got, s.deployment().Generation)
	}
}
