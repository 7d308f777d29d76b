// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"platformapp/api/appstatus"
)

func TestC30_APausedApplicationIsLeftAlone(t *testing.T) {
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	l.change(app, func() { app.Spec.Paused, app.Spec.Image = true, "registry.example.com/team/app:2" })
	l.reconcile(app)
	if app.Status.Phase != appstatus.PhasePaused {
		t.Errorf("the phase is %s: %v", app.Status.Phase, app.Status.Conditions)
	}
	deployment := l.deployment("orders")
	l.change(deployment, func() { deployment.Spec.Replicas = new(int32(7)) })
	l.must(l.user.Delete(l.ctx, l.service("orders")))
	before := l.requests.writes()
	l.reconcile(app)
	if got := l.deployment("orders"); *got.Spec.Replicas != 7 || l.exists(foreignService("orders")) {
		t.Errorf("while it is paused there are %d pods", *got.Spec.Replicas)
	}
	l.rollOut("orders")
	l.reconcile(app)
	if app.Status.ReadyReplicas != 7 {
		t.Errorf("the status tells of %d pods, want 7", app.Status.ReadyReplicas)
	}
	for _, condition := range []string{appstatus.ConditionStalled, appstatus.ConditionReconciling} {
		if meta.IsStatusConditionTrue(app.Status.Conditions, condition) {
			t.Errorf("%s is True: %v", condition, app.Status.Conditions)
		}
	}
	if n := l.requests.writes() - before; n > 2 {
		t.Errorf("%d writes while it is paused, want status alone: %v", n, l.requests.list())
	}

	l.change(app, func() { app.Spec.Paused = false })
	l.reconcile(app)
	l.rollOut("orders")
	l.reconcile(app)
	after := l.deployment("orders")
	if *after.Spec.Replicas != 3 || after.Spec.Template.Spec.Containers[0].Image != "registry.example.com/team/app:2" || !l.exists(foreignService("orders")) {
		t.Errorf("afterwards there are %d pods of %s", *after.Spec.Replicas, after.Spec.Template.Spec.Containers[0].Image)
	}
	if app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("afterwards the application is %s: %v", app.Status.Phase, app.Status.Conditions)
	}
}
