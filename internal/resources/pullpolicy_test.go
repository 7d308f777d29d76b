// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// The server would decide it once, when the container is made.
func TestEachImageHasThePullPolicyOfItsOwn(t *testing.T) {
	for image, want := range map[string]corev1.PullPolicy{
		"nginx": corev1.PullAlways, "nginx:latest": corev1.PullAlways, "host:5000/a": corev1.PullAlways,
		"nginx:1.27": corev1.PullIfNotPresent, "host:5000/a:1": corev1.PullIfNotPresent,
		"nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef":        corev1.PullIfNotPresent,
		"nginx:latest@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef": corev1.PullAlways,
	} {
		w, err := translate.DemoMicroService(&devopsv1.DemoMicroService{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "demo", UID: "1"},
			Spec:       devopsv1.DemoMicroServiceSpec{Image: image},
		})
		if err != nil {
			t.Fatal(err)
		}
		patch := `{podTemplatePatch: {spec: {initContainers: [{name: first, image: "` + image + `"}], ` +
			`containers: [{name: sidecar, image: "` + image + `"}, {name: other, image: "` + image + `", imagePullPolicy: Never}]}}}`
		pods := templateOf(t, patch).Spec
		service := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template.Spec
		for what, got := range map[string]corev1.PullPolicy{
			"DemoMicroService": service.Containers[0].ImagePullPolicy, "init container": pods.InitContainers[0].ImagePullPolicy,
		} {
			if got != want {
				t.Errorf("%s: the pull policy of the %s is %q, want %q", image, what, got, want)
			}
		}
		for _, c := range pods.Containers {
			if wanted := map[string]corev1.PullPolicy{"sidecar": want, "other": corev1.PullNever}[c.Name]; wanted != "" && c.ImagePullPolicy != wanted {
				t.Errorf("%s: the pull policy of %s is %q, want %q", image, c.Name, c.ImagePullPolicy, wanted)
			}
		}
	}
}
