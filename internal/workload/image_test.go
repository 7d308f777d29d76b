// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"platformapp/internal/workload"
)

func TestSameRepository(t *testing.T) {
	const demonstration = "gcr.io/kuar-demo/kuard-amd64:1"
	const digest = "@sha256:bd17153e9a3319f401acc7a27759243f37d422c06cbbf01cb3e1f54bbbfe14f4"
	for image, want := range map[string]bool{
		demonstration:                            true,
		"gcr.io/kuar-demo/kuard-amd64" + digest:  true,
		demonstration + digest:                   true,
		"gcr.io/kuar-demo/kuard-arm64:1":         false,
		"registry.example.com/kuard-amd64:1":     false,
		"not an image":                           false,
		"docker.io/gcr.io/kuar-demo/kuard-amd64": false,
	} {
		if got := workload.SameRepository(image, demonstration); got != want {
			t.Errorf("%s is of the repository: %v, want %v", image, got, want)
		}
	}
	if !workload.SameRepository("nginx:1", "docker.io/library/nginx:2") {
		t.Error("a short name is not the same as the whole one")
	}
}

func TestADefaultThatNobodyHasChosenTakesTheImageOfNoOther(t *testing.T) {
	const demonstration, base = "gcr.io/kuar-demo/kuard-amd64:1", "registry.example.com/base/java:21"
	owner := workload.Owner{
		GroupVersionKind: schema.GroupVersionKind{Group: "egplatform.platform.evillgenius.com", Version: "v1alpha1", Kind: "EGApp"},
		Namespace:        "team-a", Name: "orders", UID: "uid-1", SelectorKey: workload.LabelEGApp,
	}
	unconfigured := workload.Container{Image: demonstration, DefaultOf: "java", IsDemonstration: true}
	runs := func(image, annotation, uid string) *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
			Labels:      map[string]string{workload.LabelOwnerUID: uid},
			Annotations: map[string]string{workload.AnnotationDefaultImage: annotation},
		}}
		d.Spec.Template.Annotations = map[string]string{workload.AnnotationDefaultContainer: "orders"}
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "proxy", Image: "proxy:1"}, {Name: "orders", Image: image}}
		return d
	}
	for _, test := range []struct {
		name      string
		container workload.Container
		live      *appsv1.Deployment
		want      string
	}{
		{"nothing runs", unconfigured, nil, demonstration},
		{"a default of the platform runs", unconfigured, runs(base, "java="+base, "uid-1"), base},
		{"the demonstration runs, by its digest", unconfigured, runs("gcr.io/kuar-demo/kuard-amd64@sha256:1", "java=gcr.io/kuar-demo/kuard-amd64@sha256:1", "uid-1"), "gcr.io/kuar-demo/kuard-amd64@sha256:1"},
		{"the platform has another default", workload.Container{Image: "registry.example.com/base/java:25", DefaultOf: "java"}, runs(base, "java="+base, "uid-1"), "registry.example.com/base/java:25"},
		{"the application names its image", workload.Container{Image: "registry.example.com/orders:1"}, runs(base, "java="+base, "uid-1"), "registry.example.com/orders:1"},
		{"the application named the image that runs", unconfigured, runs("registry.example.com/orders:1", "", "uid-1"), demonstration},
		{"it was built on another framework", unconfigured, runs(base, "python="+base, "uid-1"), demonstration},
		{"somebody else changed the image", unconfigured, runs("registry.example.com/other:1", "java="+base, "uid-1"), demonstration},
		{"the Deployment is somebody else's", unconfigured, runs(base, "java="+base, "uid-2"), demonstration},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := workload.Observed{}
			if test.live != nil {
				o.Children = map[string]workload.Object{workload.KindDeployment: test.live}
			}
			if got := (workload.Workload{Owner: owner, Container: test.container}).ImageToRun(o); got != test.want {
				t.Errorf("it is to run %s, want %s", got, test.want)
			}
		})
	}
}
