// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"platformapp/api/appstatus"
)

func TestC30_APausedApplicationIsLeftAlone(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	l.change(app, func() { app.Spec.Paused, app.Spec.Image = true, "registry.example.com/team/app:2" })
	l.reconcile(app)
	if app.Status.Phase != appstatus.PhasePaused || meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionReady) {
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

// Who waits for a change, such as kubectl wait or a GitOps tool, must not take it for
// carried out.
func TestC30_APausedApplicationIsReadyUnlessAChangeWaits(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	set(t, app, `expose: {hosts: [orders.example.com]}`)
	l.running(app)
	l.change(app, func() { app.Spec.Paused = true })
	l.reconcile(app)
	// waits expects that a change of these kinds waits, also after a restart, and that it costs
	// nothing to tell.
	waits := func(what string, kinds ...string) {
		t.Helper()
		l.reconcile(app)
		if reason := reasonOf(app); reason != appstatus.ReasonPaused || meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionReady) != (len(kinds) == 0) {
			t.Errorf("%s: Ready for %s: %q", what, reason, messageOf(app))
		}
		if words := "a change waits, of " + strings.Join(kinds, ", ") + ":"; len(kinds) > 0 && !strings.Contains(messageOf(app), words) {
			t.Errorf("%s: %q does not say %q", what, messageOf(app), words)
		}
		for _, operator := range []*loop{l, l.restarted()} {
			before := operator.requests.writes()
			for range 5 {
				if _, err := operator.turn(app); err != nil {
					t.Fatal(err)
				}
			}
			if n := operator.requests.writes() - before; n != 0 {
				t.Errorf("%s: %d writes at rest: %v", what, n, operator.requests.list())
			}
		}
	}
	waits("nothing is changed")

	deployment := l.deployment("orders")
	l.change(deployment, func() {
		deployment.Spec.Replicas = new(int32(2))
		deployment.Spec.Template.Spec.Containers[0].Image = "registry.example.com/team/app:debug"
	})
	l.rollOut("orders")
	waits("somebody changes the Deployment by hand")

	spec := *app.Spec.DeepCopy()
	l.change(app, func() { app.Spec.Image = "registry.example.com/team/app:2" })
	waits("the image is changed", "Deployment")
	l.change(app, func() { app.Spec = *spec.DeepCopy() })
	waits("the image is changed back")
	l.change(app, func() { app.Labels = map[string]string{"cost-center": "42"} })
	waits("a label is added", "Deployment", "Service", "Ingress")
	l.change(app, func() { app.Labels, app.Spec.Expose = nil, nil })
	waits("it is no longer exposed", "Ingress")
	l.change(app, func() { app.Spec = *spec.DeepCopy() })
	l.must(l.user.Delete(l.ctx, l.service("orders")))
	waits("the Service is deleted", "Service")

	l.change(app, func() { app.Spec.Paused = false })
	l.reconcile(app)
	l.rollOut("orders")
	l.reconcile(app)
	if reason := reasonOf(app); reason != appstatus.ReasonReady || *l.deployment("orders").Spec.Replicas != 3 || !l.exists(foreignService("orders")) {
		t.Errorf("afterwards it is %s: %s", reason, messageOf(app))
	}
}
