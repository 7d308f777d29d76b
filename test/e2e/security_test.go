// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// enforceRestricted makes a namespace enforce the Pod Security Standard restricted.
func (s *scene) enforceRestricted(namespace string) {
	s.Helper()
	s.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
}

// Nothing runs, which 36 applications of all sizes would not fit on the nodes to do: that their pods are admitted is
// what the API server says without making them.
func TestC17PodsOfEveryPresetAreAdmittedAsRestricted(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("restricted")
	s.enforceRestricted(namespace)
	s.defaultAccount(namespace)
	var apps []*v1alpha1.EGApp
	for _, framework := range []v1alpha1.Framework{v1alpha1.FrameworkJava, v1alpha1.FrameworkPython, v1alpha1.FrameworkGo} {
		for _, environment := range []v1alpha1.Environment{v1alpha1.EnvironmentDev, v1alpha1.EnvironmentStage, v1alpha1.EnvironmentProd} {
			for _, size := range []v1alpha1.InstanceType{v1alpha1.InstanceTypeLowMem, v1alpha1.InstanceTypeBalanced, v1alpha1.InstanceTypeHighCPU, v1alpha1.InstanceTypeHighMem} {
				app := newEGApp(namespace, strings.ToLower(fmt.Sprintf("%s-%s-%s", framework, environment, size)), 0)
				app.Spec.Framework, app.Spec.Environment, app.Spec.InstanceType, app.Spec.Image = framework, environment, size, ""
				s.create(app)
				apps = append(apps, app)
			}
		}
	}
	for _, app := range apps {
		s.reports(podWait, app, metav1.ConditionTrue, appstatus.ReasonStopped)
		if err := s.tryPodOf(app); err != nil {
			t.Errorf("the pod of %s: %v", app.Name, err)
		}
	}
	// What is not restricted is refused there.
	app := newEGApp(namespace, "baseline", 0)
	app.Spec.SecurityProfile = v1alpha1.SecurityProfileBaseline
	s.create(app)
	s.reports(podWait, app, metav1.ConditionTrue, appstatus.ReasonStopped)
	if err := s.tryPodOf(app); !isRefused(err, "violates PodSecurity") {
		t.Errorf("a pod that is not restricted is answered %v: this test sees nothing", err)
	}
}

// tryPodOf asks the API server whether it would make the pod of an application, as the ReplicaSet controller would.
func (s *scene) tryPodOf(app application) error {
	s.Helper()
	template := s.deploymentOf(app).Spec.Template
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.GenerateName = app.GetNamespace(), app.GetName()+"-"
	return s.admin.Create(s.Context(), pod, client.DryRunAll)
}

func TestN34NamespaceThatBecomesRestrictedBreaksNothingBeforeAPodIsReplaced(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("restricted-later")
	app, service := newEGApp(namespace, "orders", 1), newDemoMicroService(namespace, "podinfo")
	s.set(app, `ports: [{name: http, containerPort: 80, servicePort: 80}]`)
	s.create(app, service)
	ours, theirs := s.runs(app, 1), s.runs(service, 1)
	s.ready(app, service)
	s.enforceRestricted(namespace)
	// The operator looks at both again, and finds nothing wrong.
	for _, a := range []application{app, service} {
		s.edit(a, func() { a.SetLabels(map[string]string{"team": "a"}) })
		s.reports(shortWait, a, metav1.ConditionTrue, appstatus.ReasonReady)
	}

	s.delete(&ours[0])
	s.delete(&theirs[0])
	ready := s.reports(podWait, service, metav1.ConditionFalse, appstatus.ReasonPodRefused)
	s.says(ready, "violates PodSecurity", `securityContext.capabilities.drop=["ALL"]`, "securityContext.runAsNonRoot=true", "make an EGApp")
	s.isGone(podWait, &ours[0])
	s.runs(app, 1)
	s.reports(shortWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
}

func TestN33PodsGetThePullSecretsOfTheServiceAccount(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("pull-secrets")
	account := s.defaultAccount(namespace)
	s.edit(account, func() { account.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "team-reg"}} })
	none, empty, own := newEGApp(namespace, "none", 1), newEGApp(namespace, "empty", 1), newEGApp(namespace, "own", 1)
	empty.Spec.ImagePullSecrets = []corev1.LocalObjectReference{}
	own.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "own-reg"}}
	s.create(none, own)
	// A typed client would leave the empty list out.
	manifest := `{"apiVersion":"egplatform.platform.evillgenius.com/v1alpha1","kind":"EGApp","metadata":{"name":"empty","namespace":%q},` +
		`"spec":{"framework":"go","environment":"dev","image":%q,"imagePullSecrets":[]}}`
	s.kubectl("apply", "-f", s.file("empty.json", fmt.Sprintf(manifest, namespace, image)))
	for _, test := range []struct {
		app           *v1alpha1.EGApp
		template, pod []corev1.LocalObjectReference
	}{
		{none, nil, account.ImagePullSecrets},
		{empty, nil, account.ImagePullSecrets},
		{own, own.Spec.ImagePullSecrets, own.Spec.ImagePullSecrets},
	} {
		pods := s.runs(test.app, 1)
		s.ready(test.app)
		deployment := s.deploymentOf(test.app)
		if diff := cmp.Diff(test.template, deployment.Spec.Template.Spec.ImagePullSecrets); diff != "" {
			t.Errorf("pull secrets of the template of %s (-want +got):\n%s", test.app.Name, diff)
		}
		if diff := cmp.Diff(test.pod, pods[0].Spec.ImagePullSecrets); diff != "" {
			t.Errorf("pull secrets of the pod of %s (-want +got):\n%s", test.app.Name, diff)
		}
		if deployment.Generation != 1 {
			t.Errorf("the Deployment of %s has the generation %d: it was written again", test.app.Name, deployment.Generation)
		}
	}
}
