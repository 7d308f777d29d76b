// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"platformapp/api/appstatus"
)

// Of a kind of which the cluster does not tell whether it has it, only those wait who need it.
func TestAKindThatIsNotKnownHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	delete(l.platform.Kinds, "Route")
	l.platform.Unknown = map[string]bool{"Route": true}
	app := ordersApp()
	set(t, app, `expose: {type: Ingress, hosts: [orders.example.com]}`)
	l.running(app)
	if app.Status.Phase != appstatus.PhaseRunning || l.childrenOf(app)["Ingress/orders"] == "" {
		t.Errorf("the phase is %s: %s", app.Status.Phase, messageOf(app))
	}
}

// What is said does not stay Ready while the operator sees too little to act, and the pods go.
func TestWhatCannotBeReadIsTold(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	set(t, app, `expose: {hosts: [orders.example.com]}`)
	l.running(app)
	generation := l.deployment("orders").Generation
	l.platform.Unknown = map[string]bool{"Route": true}
	l.change(app, func() { app.Spec.ReplicaCount = new(int32(7)) })
	for turn := range 2 {
		if _, err := l.turn(app); err == nil {
			t.Errorf("turn %d is not tried again", turn)
		}
	}
	l.read(app)
	if reasonOf(app) != appstatus.ReasonApplyFailed || !strings.Contains(messageOf(app), "whether it has the kind Route") {
		t.Errorf("Ready is %s: %s", reasonOf(app), messageOf(app))
	}
	if app.Status.ReadyReplicas != 3 || !meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionAvailable) {
		t.Errorf("what runs is not told: %+v", app.Status.Status)
	}
	if got := l.deployment("orders").Generation; got != generation {
		t.Error("the Deployment was written by an incomplete look")
	}
	l.platform.Unknown = nil
	l.reconcile(app)
	if got := *l.deployment("orders").Spec.Replicas; got != 7 {
		t.Errorf("%d pods when it can be read again", got)
	}
}
