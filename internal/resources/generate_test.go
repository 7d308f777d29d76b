// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// Generators of everything that the API server admits.
var (
	anyName  = rapid.StringMatching(`[a-z]([-a-z0-9]{0,61}[a-z0-9])?`)
	anyAppID = rapid.StringMatching(`([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?`)
	anyImage = rapid.SampledFrom([]string{
		"nginx", "stefanprodan/podinfo:0.0.1", "registry.example.com:5000/team/app:1.2_3-rc.1",
		"host:5000/app:1.2@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	})
	anyLabels = rapid.MapOf(
		rapid.OneOf(
			rapid.StringMatching(`[a-z]{1,10}`),
			rapid.StringMatching(`(tags\.datadoghq\.com|example\.com|helm\.sh|argocd\.argoproj\.io|app\.kubernetes\.io)/[a-z]{1,10}`),
			rapid.SampledFrom([]string{
				workload.LabelEGApp, workload.LabelDemoMicroService, workload.LabelManagedBy, workload.LabelOwnerUID,
				workload.LabelName, workload.LabelAppManagedBy, "pod-template-hash",
			})),
		rapid.StringMatching(`([A-Za-z0-9]([-A-Za-z0-9_.]{0,20}[A-Za-z0-9])?)?`))
)

var anyEGApp = rapid.Custom(func(t *rapid.T) *v1alpha1.EGApp {
	return &v1alpha1.EGApp{ObjectMeta: anyMetadata(t), Spec: anySpec.Draw(t, "spec")}
})

var anyDemoMicroService = rapid.Custom(func(t *rapid.T) *devopsv1.DemoMicroService {
	return &devopsv1.DemoMicroService{
		ObjectMeta: anyMetadata(t),
		Spec:       devopsv1.DemoMicroServiceSpec{Image: anyImage.Draw(t, "image")},
	}
})

func anyMetadata(t *rapid.T) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:   "team-a",
		Name:        anyName.Draw(t, "name"),
		UID:         types.UID(rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}`).Draw(t, "uid")),
		Generation:  rapid.Int64Min(1).Draw(t, "generation"),
		Labels:      anyLabels.Draw(t, "labels"),
		Annotations: anyLabels.Draw(t, "annotations"),
	}
}

// anyWorkload is the workload of an application of either kind.
var anyWorkload = rapid.Custom(func(t *rapid.T) workload.Workload {
	var w workload.Workload
	var err error
	if rapid.Bool().Draw(t, "is an EGApp") {
		w, err = translate.EGApp(anyEGApp.Draw(t, "EGApp"), anyOptions.Draw(t, "options"))
	} else {
		w, err = translate.DemoMicroService(anyDemoMicroService.Draw(t, "DemoMicroService"))
	}
	if err != nil {
		t.Fatalf("a valid application is refused: %v", err)
	}
	return w
})

// anyOptions are settings of the platform.
var anyOptions = rapid.Custom(func(t *rapid.T) translate.Options {
	return translate.Options{
		IngressNamespaces:    rapid.SampledFrom([][]string{nil, {"ingress"}, {"ingress", "traefik"}}).Draw(t, "ingress namespaces"),
		MonitoringNamespaces: rapid.SampledFrom([][]string{nil, {"monitoring"}}).Draw(t, "monitoring namespaces"),
	}
})
