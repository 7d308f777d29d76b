// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
)

// foreignDeployment is a Deployment that somebody made by hand.
func foreignDeployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.27"}}},
			},
		},
	}
}

func foreignService(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Port: 8443}}},
	}
}

func TestC09_AnObjectOfSomebodyElseIsLeftAloneUntilItsNameIsFree(t *testing.T) {
	t.Parallel()
	for kind, foreign := range map[string]client.Object{"Deployment": foreignDeployment("orders"), "Service": foreignService("orders")} {
		t.Run(kind, func(t *testing.T) {
			l := newLoop(t)
			l.create(foreign)
			l.read(foreign)
			before := foreign.DeepCopyObject()

			app := ordersApp()
			l.create(app)
			result := l.reconcile(app)

			ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
			if ready.Status != metav1.ConditionFalse || ready.Reason != appstatus.ReasonNameConflict {
				t.Errorf("Ready is %s %s, want False NameConflict", ready.Status, ready.Reason)
			}
			if want := kind + " " + l.namespace + "/orders"; !strings.Contains(ready.Message, want) {
				t.Errorf("the message does not name %s: %s", want, ready.Message)
			}
			if app.Status.Phase != appstatus.PhaseConflict || !meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionStalled) {
				t.Errorf("phase is %s, conditions %v", app.Status.Phase, app.Status.Conditions)
			}
			if result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
				t.Errorf("it looks again after %s, want within a minute", result.RequeueAfter)
			}
			l.read(foreign)
			if diff := cmp.Diff(before, foreign); diff != "" {
				t.Errorf("the foreign object was changed:\n%s", diff)
			}
			if service := foreignService("orders"); kind == "Deployment" && l.exists(service) {
				t.Error("a Service was made beside the Deployment of somebody else")
			}

			writes := l.requests.writes()
			for range 5 {
				if _, err := l.turn(app); err != nil {
					t.Fatal(err)
				}
			}
			if got := l.requests.writes(); got != writes {
				t.Errorf("a lasting conflict makes %d writes", got-writes)
			}

			l.must(l.user.Delete(l.ctx, foreign))
			l.reconcile(app)
			l.rollOut("orders")
			l.reconcile(app)
			if app.Status.Phase != appstatus.PhaseRunning {
				t.Errorf("after the name is free the phase is %s: %v", app.Status.Phase, app.Status.Conditions)
			}
		})
	}
}

func TestTwoKindsOfOneNameNeverShareAnObject(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	before := l.deployment("orders")

	service := &devopsv1.DemoMicroService{ObjectMeta: metav1.ObjectMeta{Name: "orders"}, Spec: devopsv1.DemoMicroServiceSpec{Image: "nginx:1.27"}}
	l.create(service)
	l.reconcile(service)

	ready := meta.FindStatusCondition(service.Status.Conditions, appstatus.ConditionReady)
	if ready.Reason != appstatus.ReasonNameConflict || !strings.Contains(ready.Message, "EGApp orders") {
		t.Errorf("Ready is %s: %s", ready.Reason, ready.Message)
	}
	if len(service.Status.Pods) > 0 || service.Status.Replicas != 0 {
		t.Errorf("it counts the pods of the EGApp as its own: %v", service.Status)
	}
	if diff := cmp.Diff(before, l.deployment("orders")); diff != "" {
		t.Errorf("the EGApp's Deployment was changed:\n%s", diff)
	}
	l.reconcile(app)
	if app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("the EGApp is %s", app.Status.Phase)
	}
}

func TestAStrippedOwnerReferenceIsPutBack(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	deployment := l.deployment("orders")
	l.change(deployment, func() { deployment.OwnerReferences = nil })
	l.reconcile(app)
	if got := l.deployment("orders"); !metav1.IsControlledBy(got, app) || got.UID != deployment.UID {
		t.Errorf("the owner reference is not put back: %v", got.OwnerReferences)
	}
}

func TestStrippedLabelsArePutBack(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	deployment := l.deployment("orders")
	uid, want := deployment.UID, deployment.Labels
	l.change(deployment, func() { deployment.Labels = nil })
	l.reconcile(app)
	got := l.deployment("orders")
	if diff := cmp.Diff(want, got.Labels); diff != "" || got.UID != uid {
		t.Errorf("the labels are not put back (-want +got):\n%s", diff)
	}
	l.reconcile(app)
	if app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("the EGApp is %s", app.Status.Phase)
	}
}

func TestTheSuccessorWaitsUntilThePredecessorsObjectsAreGone(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	old := l.deployment("orders")

	// No garbage collector runs here: the predecessor's objects outlive it.
	l.must(l.user.Delete(l.ctx, app))
	successor := ordersApp()
	l.create(successor)
	l.reconcile(successor)
	if got := l.deployment("orders"); got.UID != old.UID || got.ResourceVersion != old.ResourceVersion {
		t.Error("the predecessor's Deployment was touched")
	}
	ready := meta.FindStatusCondition(successor.Status.Conditions, appstatus.ConditionReady)
	if ready.Reason != appstatus.ReasonTerminating {
		t.Errorf("Ready is %s: %s", ready.Reason, ready.Message)
	}

	l.must(l.user.Delete(l.ctx, old))
	l.must(l.user.Delete(l.ctx, l.service("orders")))
	l.reconcile(successor)
	for _, child := range []metav1.Object{l.deployment("orders"), l.service("orders")} {
		if !metav1.IsControlledBy(child, successor) {
			t.Errorf("%T is not the successor's", child)
		}
	}
}

// surplusService is a Service of a DemoMicroService, which has none: one of an earlier
// version of the operator.
func surplusService(app *devopsv1.DemoMicroService) *corev1.Service {
	service := foreignService(app.Name)
	service.Labels = map[string]string{"platform.evillgenius.com/managed-by": "platformapp"}
	service.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(app, devopsv1.GroupVersion.WithKind("DemoMicroService"))}
	return service
}

func TestWhatTheSpecificationNoLongerWantsIsPrunedIfItIsOurs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		disown bool
		pruned bool
	}{
		"a Service of ours":            {false, true},
		"a Service of somebody else's": {true, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			app := podinfoService()
			l.running(app)
			service := surplusService(app)
			if test.disown {
				service.OwnerReferences = nil
			}
			l.create(service)
			l.reconcile(app)
			if l.exists(service) == test.pruned {
				t.Errorf("it is there: %t", !test.pruned)
			}
			if app.Status.Phase != appstatus.PhaseRunning {
				t.Errorf("the DemoMicroService is %s", app.Status.Phase)
			}
		})
	}
}

func TestAPruneThatFailsIsTold(t *testing.T) {
	t.Parallel()
	faulty := &faultyClient{err: apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "podinfo", errors.New(`User "operator" cannot delete resource "services"`))}
	l := newLoop(t, wrapped(around(faulty)))
	app := podinfoService()
	l.running(app)
	service := surplusService(app)
	l.create(service)
	faulty.at = faulty.writes + 1
	result, err := l.turn(app)
	l.must(err)
	l.read(app)
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if ready.Reason != appstatus.ReasonForbidden || !strings.Contains(ready.Message, "cannot delete") || result.RequeueAfter != time.Minute {
		t.Errorf("Ready is %s: %s; it looks again after %s", ready.Reason, ready.Message, result.RequeueAfter)
	}
	l.reconcile(app)
	if l.exists(service) || app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("after the right is there the phase is %s", app.Status.Phase)
	}
}

func TestADeletedApplicationIsNotTouched(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	app.Finalizers = []string{"example.com/keep"}
	l.running(app)
	l.must(l.user.Delete(l.ctx, app))
	l.must(l.user.Delete(l.ctx, l.deployment("orders")))
	writes := l.requests.writes()
	l.reconcile(app)
	if l.requests.writes() != writes || l.exists(foreignDeployment("orders")) {
		t.Error("the children of an EGApp that is being deleted are made again")
	}
	l.change(app, func() { app.Finalizers = nil })
	if l.exists(app) {
		t.Error("the EGApp is not gone")
	}
	if _, err := l.turn(app); err != nil {
		t.Errorf("the turn after the end fails: %v", err)
	}
}
