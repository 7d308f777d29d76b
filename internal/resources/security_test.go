// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// The API server judges pods by the same checks, of whichever version the namespace names:
// this is the newest.
func TestPodsSatisfyTheirPodSecurityStandard(t *testing.T) {
	judge := podSecurityJudge(t)
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkload.Draw(t, "workload")
		if verdict := judge(t, w); !verdict.Allowed {
			t.Errorf("%s of the standard %s: %s", w.Owner.Kind, w.Security, verdict.ForbiddenDetail())
		}
	})
}

// C17
func TestEveryCombinationIsAdmittedByRestricted(t *testing.T) {
	judge := podSecurityJudge(t)
	for _, framework := range v1alpha1.Frameworks() {
		for _, environment := range v1alpha1.Environments() {
			for _, instanceType := range v1alpha1.InstanceTypes() {
				w := mustTranslate(t, &v1alpha1.EGApp{
					ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", UID: "1"},
					Spec:       v1alpha1.EGAppSpec{Framework: framework, Environment: environment, InstanceType: instanceType},
				})
				if w.Security != workload.SecurityRestricted {
					t.Errorf("%s/%s/%s asks for the standard %s", framework, environment, instanceType, w.Security)
				}
				if verdict := judge(t, w); !verdict.Allowed {
					t.Errorf("%s/%s/%s: %s", framework, environment, instanceType, verdict.ForbiddenDetail())
				}
			}
		}
	}
}

// Any ordinary image, also one that runs as root, runs as a DemoMicroService: were its pods
// restricted, many would not start. It also shows that the judge of the tests above judges.
func TestDemoMicroServiceIsNoMoreThanBaseline(t *testing.T) {
	w, err := translate.DemoMicroService(&devopsv1.DemoMicroService{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "demo", UID: "1"},
		Spec:       devopsv1.DemoMicroServiceSpec{Image: "nginx:1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if w.Security != workload.SecurityBaseline || !podSecurityJudge(t)(t, w).Allowed {
		t.Error("the pods do not satisfy the standard Baseline")
	}
	security := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template.Spec.Containers[0].SecurityContext
	if security.AllowPrivilegeEscalation == nil || *security.AllowPrivilegeEscalation {
		t.Error("the container may gain more rights")
	}
	w.Security = workload.SecurityRestricted
	template := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template
	if user := template.Spec.SecurityContext.RunAsUser; user == nil || *user == 0 {
		t.Error("a restricted pod runs as the image's user, which may be root")
	}
}

// OpenShift refuses pods that name a user outside of the range of their namespace.
func TestOpenShiftChoosesTheUser(t *testing.T) {
	w := mustTranslate(t, egAppWith(t, nil))
	onOpenShift := workload.Observed{Platform: workload.Platform{OpenShift: true}}
	security := deploymentOf(t, resources.Desired(w, onOpenShift)).Spec.Template.Spec.SecurityContext
	if security.RunAsUser != nil || security.RunAsGroup != nil || security.FSGroup != nil {
		t.Errorf("the pods name a user or group: %s", toYAML(t, security))
	}
	if security.RunAsNonRoot == nil || !*security.RunAsNonRoot {
		t.Error("the pods may run as root")
	}
	elsewhere := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template.Spec.SecurityContext
	for name, id := range map[string]*int64{"runAsUser": elsewhere.RunAsUser, "fsGroup": elsewhere.FSGroup} {
		if id == nil || *id == 0 {
			t.Errorf("%s is left to the image on plain Kubernetes", name)
		}
	}
	if elsewhere.RunAsGroup != nil {
		t.Errorf("the group is %d: images that are made for any user open their files for the group 0", *elsewhere.RunAsGroup)
	}
	if change := elsewhere.FSGroupChangePolicy; change == nil || *change != corev1.FSGroupChangeOnRootMismatch {
		t.Error("each start changes the group of every file of a volume")
	}
}

// podSecurityJudge judges the pods of a workload by the standard that it names.
func podSecurityJudge(t testing.TB) func(rapid.TB, workload.Workload) policy.AggregateCheckResult {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(t rapid.TB, w workload.Workload) policy.AggregateCheckResult {
		t.Helper()
		level := api.LevelRestricted
		if w.Security == workload.SecurityBaseline {
			level = api.LevelBaseline
		}
		template := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template
		return policy.AggregateCheckResults(evaluator.EvaluatePod(
			api.LevelVersion{Level: level, Version: api.LatestVersion()}, &template.ObjectMeta, &template.Spec))
	}
}
