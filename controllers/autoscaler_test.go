// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// scale plays an autoscaler: it sets the number of pods by the scale subresource.
func (l *loop) scale(name string, count int32) {
	l.Helper()
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: count}}
	l.must(l.user.SubResource("scale").Update(l.ctx, l.deployment(name), client.WithSubResourceBody(scale), client.FieldOwner("kube-controller-manager")))
}

// autoscaler is a HorizontalPodAutoscaler that a user made by hand.
func autoscaler(name, deployment string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: deployment},
			MaxReplicas:    10,
		},
	}
}

// come lets the operator have its turns and the pods come to serve.
func (l *loop) come(app *v1alpha1.EGApp) {
	l.Helper()
	l.reconcile(app)
	l.rollOut(app.Name)
	l.reconcile(app)
}

func (l *loop) wantReplicas(app *v1alpha1.EGApp, want int32) {
	l.Helper()
	if got := *l.deployment(app.Name).Spec.Replicas; got != want || app.Status.ReadyReplicas != want {
		l.Errorf("the Deployment has %d pods and the status says %d, want %d", got, app.Status.ReadyReplicas, want)
	}
}

func TestC11_AutoscalingRemovedAndAddedAgain(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	autoscaling := &v1alpha1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 10, TargetCPUUtilizationPercentage: new(int32(70))}
	app.Spec.Autoscaling = autoscaling
	l.running(app)
	l.scale(app.Name, 7)
	l.come(app)
	l.wantReplicas(app, 7)
	for _, a := range []*v1alpha1.Autoscaling{nil, autoscaling, nil} {
		l.change(app, func() { app.Spec.Autoscaling = a })
		l.come(app)
		l.wantReplicas(app, 7)
		if exists := l.exists(autoscaler("orders", "orders")); exists != (a != nil) {
			t.Errorf("there is an autoscaler: %t", exists)
		}
		if app.Status.Phase != appstatus.PhaseRunning {
			t.Errorf("phase is %s: %v", app.Status.Phase, app.Status.Conditions)
		}
	}
	l.change(app, func() { app.Spec.ReplicaCount = new(int32(4)) })
	l.come(app)
	l.wantReplicas(app, 4)
}

func TestC12_AUsersAutoscalerOnTheDeployment(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	theirs := autoscaler("mine", "orders")
	l.create(theirs)
	l.come(app)
	l.scale(app.Name, 5)
	l.come(app)
	l.wantReplicas(app, 5)
	if app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("phase is %s: %v", app.Status.Phase, app.Status.Conditions)
	}
	l.change(app, func() { app.Spec.ReplicaCount = new(int32(4)) })
	l.come(app)
	l.wantReplicas(app, 5)
	l.must(l.user.Delete(l.ctx, theirs))
	l.come(app)
	l.wantReplicas(app, 4)
}

func TestC21_AStoppedApplicationHasNoAutoscalerAndComesBack(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	app.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 10, TargetCPUUtilizationPercentage: new(int32(70))}
	l.running(app)
	l.change(app, func() { app.Spec.ReplicaCount = new(int32(0)) })
	l.come(app)
	l.wantReplicas(app, 0)
	if app.Status.Phase != appstatus.PhaseStopped || l.exists(autoscaler("orders", "orders")) {
		t.Errorf("phase is %s", app.Status.Phase)
	}
	l.change(app, func() { app.Spec.ReplicaCount = new(int32(1)) })
	l.come(app)
	l.wantReplicas(app, 2)
	if app.Status.Phase != appstatus.PhaseRunning || !l.exists(autoscaler("orders", "orders")) {
		t.Errorf("phase is %s", app.Status.Phase)
	}
}

func TestTwoAutoscalersAreNeverOnOneDeployment(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	app.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 10, TargetCPUUtilizationPercentage: new(int32(70))}
	l.running(app)
	l.scale(app.Name, 6)
	l.come(app)
	theirs := autoscaler("mine", "orders")
	l.create(theirs)
	l.come(app)
	l.wantReplicas(app, 6)
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if l.exists(autoscaler("orders", "orders")) || ready.Reason != appstatus.ReasonAutoscalerConflict || !strings.Contains(ready.Message, "mine") {
		t.Errorf("Ready is %s: %s", ready.Reason, ready.Message)
	}
	l.must(l.user.Delete(l.ctx, theirs))
	l.come(app)
	l.wantReplicas(app, 6)
	if !l.exists(autoscaler("orders", "orders")) || app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("phase is %s", app.Status.Phase)
	}
}

// N21: an autoscaler on the application's own scale subresource asks for another replicaCount, which is carried out; of its
// own the application gets none beside it.
func TestN21_AnAutoscalerOnTheApplicationAsksForReplicas(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	theirs := autoscaler("keda-hpa-orders", "orders")
	theirs.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "EGApp", Name: "orders"}
	l.create(theirs)
	for _, count := range []int32{5, 2, 0, 3} {
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: count}}
		l.must(l.user.SubResource("scale").Update(l.ctx, app, client.WithSubResourceBody(scale), client.FieldOwner("kube-controller-manager")))
		l.come(app)
		l.wantReplicas(app, count)
		if stopped := app.Status.Phase == appstatus.PhaseStopped; stopped != (count == 0) {
			t.Errorf("with %d pods the phase is %s", count, app.Status.Phase)
		}
	}
	l.change(app, func() {
		app.Spec.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 10, TargetCPUUtilizationPercentage: new(int32(70))}
	})
	l.come(app)
	l.wantReplicas(app, 3)
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if ready.Reason != appstatus.ReasonAutoscalerConflict || l.exists(autoscaler("orders", "orders")) {
		t.Errorf("beside the autoscaler of somebody else: %v", ready)
	}
	l.change(app, func() { app.Spec.ReplicaCount = new(int32(4)) })
	l.come(app)
	l.wantReplicas(app, 4)
}
