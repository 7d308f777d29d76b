// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/controllers"
)

func robotApp() *v1alpha1.EGApp {
	app := ordersApp()
	app.Spec.ServiceAccountName = "robot"
	return app
}

func robot(annotations map[string]string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot", Annotations: annotations}}
}

// Property 18 and N26: whoever may create an EGApp gets no rights of a ServiceAccount by it.
func TestN26_AnEGAppRunsAsAServiceAccountThatConsents(t *testing.T) {
	t.Parallel()
	consent := map[string]string{"platform.evillgenius.com/allow-egapps": "true"}
	for name, test := range map[string]struct {
		account *corev1.ServiceAccount
		allowed func(namespace string) []string
		runs    bool
		words   []string
	}{
		"no account":                      {nil, nil, false, []string{"robot", "does not exist", "platform.evillgenius.com/allow-egapps"}},
		"no account, allowed already":     {nil, func(n string) []string { return []string{n + "/robot"} }, false, []string{"robot", "does not exist"}},
		"an account":                      {robot(nil), nil, false, []string{"robot", "kubectl annotate serviceaccount robot --namespace ", "platform.evillgenius.com/allow-egapps=true", "--allowed-service-accounts"}},
		"an account that denies":          {robot(map[string]string{"platform.evillgenius.com/allow-egapps": "false"}), nil, false, []string{"robot"}},
		"an account that consents":        {robot(consent), nil, true, nil},
		"an account that is allowed":      {robot(nil), func(n string) []string { return []string{n + "/robot"} }, true, nil},
		"an account allowed everywhere":   {robot(nil), func(string) []string { return []string{"*/robot"} }, true, nil},
		"an account allowed elsewhere":    {robot(nil), func(string) []string { return []string{"default/robot"} }, false, []string{"robot"}},
		"all others of its namespace are": {robot(nil), func(n string) []string { return []string{n + "/other", "*/rob"} }, false, []string{"robot"}},
	} {
		t.Run(name, func(t *testing.T) {
			user := newUser(t)
			var options controllers.Options
			if test.allowed != nil {
				options.AllowedServiceAccounts = test.allowed(user.namespace)
			}
			l := newLoop(t, inNamespace(user.namespace), withOptions(options))
			if test.account != nil {
				l.create(test.account)
			}
			app := robotApp()
			l.create(app)
			l.reconcile(app)
			if got := l.exists(foreignDeployment("orders")); got != test.runs {
				t.Errorf("it runs: %t, %v", got, app.Status.Conditions)
			}
			if test.runs {
				if got := l.deployment("orders").Spec.Template.Spec.ServiceAccountName; got != "robot" {
					t.Errorf("it runs as %q", got)
				}
				return
			}
			stalled := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionStalled)
			if stalled == nil || stalled.Status != metav1.ConditionTrue || stalled.Reason != appstatus.ReasonServiceAccountNotAllowed {
				t.Errorf("it is not Stalled: %v", app.Status.Conditions)
			}
			for _, word := range test.words {
				if !strings.Contains(messageOf(app), word) {
					t.Errorf("%q does not say %q", messageOf(app), word)
				}
			}
		})
	}
}

func TestN26_AConsentThatIsTakenBackLeavesWhatRuns(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	account := robot(map[string]string{"platform.evillgenius.com/allow-egapps": "true"})
	l.create(account)
	app := robotApp()
	l.running(app)
	before := l.deployment("orders")
	l.change(account, func() { account.Annotations = nil })
	l.change(app, func() { app.Spec.ReplicaCount = new(int32(1)) })
	l.reconcile(app)
	after := l.deployment("orders")
	if app.Status.Phase == appstatus.PhaseRunning || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the application is %s, its Deployment was written: %t", app.Status.Phase, after.ResourceVersion != before.ResourceVersion)
	}
}
