// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/controllers"
)

// appNamed is an EGApp with the appId of ordersApp and another name.
func appNamed(name string) *v1alpha1.EGApp {
	app := ordersApp()
	app.Name = name
	return app
}

// nextSecond waits until what is created next is younger: a creation is stored to the second.
func nextSecond() {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second + 5*time.Millisecond)))
}

// isHeld tells whether an EGApp waits for the older one with its appId, and has nothing.
func (l *loop) isHeld(app *v1alpha1.EGApp) bool {
	l.Helper()
	stalled := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionStalled)
	return stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == appstatus.ReasonDuplicateAppID
}

func TestC22_TheNewerOfTwoEGAppsWithOneAppIdWaitsForTheOlder(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	older, newer := appNamed("orders"), appNamed("orders-2")
	l.running(older)
	nextSecond()
	l.create(newer)
	l.reconcile(newer)
	if !l.isHeld(newer) || l.exists(foreignDeployment("orders-2")) {
		t.Errorf("the newer one is %s: %v", newer.Status.Phase, newer.Status.Conditions)
	}
	for _, part := range []string{"orders", "app-00123", "dev"} {
		if !strings.Contains(messageOf(newer), part) {
			t.Errorf("%q does not name %s", messageOf(newer), part)
		}
	}
	before := l.requests.writes()
	l.reconcile(older)
	l.reconcile(newer)
	if older.Status.Phase != appstatus.PhaseRunning || l.requests.writes() != before {
		t.Errorf("the older one is %s after %d more writes", older.Status.Phase, l.requests.writes()-before)
	}

	l.must(l.user.Delete(l.ctx, older))
	l.reconcile(newer)
	l.rollOut("orders-2")
	l.reconcile(newer)
	if newer.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("after the older one is gone the newer is %s: %v", newer.Status.Phase, newer.Status.Conditions)
	}
}

func TestC22_OneAppIdInTwoEnvironmentsIsTwoApps(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	first, second := appNamed("orders"), appNamed("orders-2")
	second.Spec.Environment = v1alpha1.EnvironmentStage
	l.running(first)
	l.running(second)
	for _, app := range []*v1alpha1.EGApp{first, second} {
		if app.Status.Phase != appstatus.PhaseRunning {
			t.Errorf("%s is %s: %v", app.Name, app.Status.Phase, app.Status.Conditions)
		}
	}
}

// What an EGApp ran before it was held runs on.
func TestC22_AHeldEGAppKeepsWhatRuns(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	older, newer := appNamed("orders"), appNamed("orders-2")
	older.Spec.AppID = "another"
	l.running(older)
	nextSecond()
	l.running(newer)
	before := l.deployment("orders-2")
	l.change(older, func() { older.Spec.AppID = newer.Spec.AppID })
	l.change(newer, func() { newer.Spec.ReplicaCount = new(int32(1)) })
	l.reconcile(newer)
	after := l.deployment("orders-2")
	if !l.isHeld(newer) || after.UID != before.UID || *after.Spec.Replicas != *before.Spec.Replicas {
		t.Errorf("the newer one is %s with %d pods of %d", newer.Status.Phase, *after.Spec.Replicas, *before.Spec.Replicas)
	}
	if newer.Status.ReadyReplicas != 3 || !meta.IsStatusConditionTrue(newer.Status.Conditions, appstatus.ConditionAvailable) {
		t.Errorf("what runs is not told: %+v", newer.Status.Status)
	}
	l.change(older, func() { older.Spec.AppID = "another" })
	l.reconcile(newer)
	if n := *l.deployment("orders-2").Spec.Replicas; n != 1 {
		t.Errorf("when the appId is free again there are %d pods, want 1", n)
	}
}

func TestAnAppIdIsUniqueInItsNamespaceOrByOptionInTheCluster(t *testing.T) {
	t.Parallel()
	for name, clusterWide := range map[string]bool{"in the namespace": false, "in the cluster": true} {
		t.Run(name, func(t *testing.T) {
			first := newUser(t)
			older := appNamed("secret-project")
			older.Spec.AppID = "unique-" + first.namespace
			first.create(older)
			nextSecond()
			l := newLoop(t, inNamespaces(first.namespace), withOptions(controllers.Options{ClusterWideAppIDs: clusterWide}))
			newer := appNamed("orders")
			newer.Spec.AppID = older.Spec.AppID
			l.create(newer)
			l.reconcile(newer)
			if got := l.isHeld(newer); got != clusterWide {
				t.Errorf("held: %t, %v", got, newer.Status.Conditions)
			}
			if words := messageOf(newer); strings.Contains(words, first.namespace+".") || strings.Contains(words, "secret-project") || strings.Contains(words, "namespace "+first.namespace) {
				t.Errorf("%q tells what there is in another namespace", words)
			}
		})
	}
}

func TestTheWebhookLearnsOfADuplicate(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	existing := appNamed("orders")
	l.create(existing)
	l.catchUp()
	duplicate := controllers.Duplicate(l.reader, controllers.Options{})
	newcomer := appNamed("orders-2")
	newcomer.Namespace = l.namespace
	for name, test := range map[string]struct {
		change func()
		want   string
	}{
		"the same appId":      {func() {}, "EGApp orders has appId app-00123 in environment dev as well"},
		"itself":              {func() { newcomer.Name = "orders" }, ""},
		"another environment": {func() { newcomer.Name, newcomer.Spec.Environment = "orders-2", v1alpha1.EnvironmentProd }, ""},
		"no appId":            {func() { newcomer.Spec.AppID, newcomer.Spec.Environment = "", v1alpha1.EnvironmentDev }, ""},
	} {
		newcomer.Name, newcomer.Namespace, newcomer.Spec = "orders-2", l.namespace, appNamed("").Spec
		test.change()
		got, err := duplicate(l.ctx, newcomer)
		if err != nil || (test.want == "") != (got == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// N23: a GitOps tool makes the new object first and deletes the old one later.
func TestN23_ARenameNeedsNoSecondApply(t *testing.T) {
	t.Parallel()
	l := newUser(t)
	startOperator(t, &requestLog{}, l.namespace)
	older, newer := appNamed("orders"), appNamed("orders-v2")
	l.create(older)
	eventually(t, func() error { return l.isRunning(older) })
	nextSecond()
	l.create(newer)
	eventually(t, func() error {
		if err := l.user.Get(l.ctx, client.ObjectKeyFromObject(newer), newer); err != nil {
			return err
		}
		return failsUnless(l.isHeld(newer), "the newer one is not held: %v", newer.Status.Conditions)
	})
	l.must(l.user.Delete(l.ctx, older))
	eventually(t, func() error { return l.isRunning(newer) })
}
