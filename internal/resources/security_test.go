// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// The API server judges pods by the same checks.
func TestPodsSatisfyTheirPodSecurityStandard(t *testing.T) {
	judge := podSecurityJudge(t)
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkload.Draw(t, "workload")
		level := api.LevelRestricted
		if w.Owner.Kind == "DemoMicroService" {
			level = api.LevelBaseline
		}
		if verdict := judge(t, w, level); !verdict.Allowed {
			t.Errorf("%s of the standard %s: %s: %s", w.Owner.Kind, level, verdict.ForbiddenReason(), verdict.ForbiddenDetail())
		}
	})
}

// Any ordinary image, also one that runs as root, runs as a DemoMicroService: were its pods
// restricted, many would not start. It also shows that the judge of the test above judges.
func TestDemoMicroServiceIsNoMoreThanBaseline(t *testing.T) {
	w, err := translate.DemoMicroService(&devopsv1.DemoMicroService{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "demo", UID: "1"},
		Spec:       devopsv1.DemoMicroServiceSpec{Image: "nginx:1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if verdict := podSecurityJudge(t)(t, w, api.LevelRestricted); verdict.Allowed {
		t.Error("the pods are restricted")
	}
	security := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template.Spec.Containers[0].SecurityContext
	if security.AllowPrivilegeEscalation == nil || *security.AllowPrivilegeEscalation {
		t.Error("the container may gain more rights")
	}
}

func podSecurityJudge(t testing.TB) func(rapid.TB, workload.Workload, api.Level) policy.AggregateCheckResult {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(t rapid.TB, w workload.Workload, level api.Level) policy.AggregateCheckResult {
		t.Helper()
		template := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template
		return policy.AggregateCheckResults(evaluator.EvaluatePod(
			api.LevelVersion{Level: level, Version: api.LatestVersion()}, &template.ObjectMeta, &template.Spec))
	}
}
