// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// applied are the ways in which manifests get to a cluster.
var applied = map[string]func(s *scene, app *v1alpha1.EGApp, manifest string){
	"kubectl apply": func(s *scene, _ *v1alpha1.EGApp, manifest string) {
		s.kubectl("apply", "-f", s.file("app.yaml", manifest))
	},
	"kubectl apply --server-side": func(s *scene, _ *v1alpha1.EGApp, manifest string) {
		s.kubectl("apply", "--server-side", "-f", s.file("app.yaml", manifest))
	},
	"Argo CD": applyAsArgoCD,
}

// applyAsArgoCD merges three ways, as Argo CD does by default: what the manifest was, what it is, and what is stored.
func applyAsArgoCD(s *scene, app *v1alpha1.EGApp, manifest string) {
	s.Helper()
	modified, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		s.Fatal(err)
	}
	annotation, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{corev1.LastAppliedConfigAnnotation: string(modified)}}})
	if err != nil {
		s.Fatal(err)
	}
	stored := v1alpha1.EGApp{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
	if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(app), &stored); client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	} else if err != nil {
		s.kubectl("apply", "-f", s.file("app.yaml", manifest))
		return
	}
	current, err := json.Marshal(stored)
	if err != nil {
		s.Fatal(err)
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch([]byte(stored.Annotations[corev1.LastAppliedConfigAnnotation]), modified, current)
	if err != nil {
		s.Fatal(err)
	}
	for _, p := range [][]byte{patch, annotation} {
		if err := s.admin.Patch(s.Context(), &stored, client.RawPatch(types.MergePatchType, p), client.FieldOwner("argocd-controller")); err != nil {
			s.Fatal(err)
		}
	}
}

func TestN45APresetFieldIsTakenAwayByEveryClient(t *testing.T) {
	t.Parallel()
	for name, apply := range applied {
		t.Run(name, func(t *testing.T) {
			s := newSharedScene(t)
			app := newEGApp(s.namespace("clients"), "orders", 0)
			manifest := fmt.Sprintf("apiVersion: %s\nkind: EGApp\nmetadata: {name: orders, namespace: %s}\n"+
				"spec:\n  framework: go\n  environment: dev\n  image: %s\n  replicaCount: 0\n", v1alpha1.GroupVersion, app.Namespace, image)
			const (
				byAnnotation = `  podTemplatePatch: {metadata: {annotations: {platform.evillgenius.com/remove: "spec.containers[main].readinessProbe"}}}`
				byNull       = `  podTemplatePatch: {spec: {containers: [{name: main, readinessProbe: null}]}}`
				another      = `  podTemplatePatch: {spec: {containers: [{name: main, workingDir: /srv}]}}`
			)
			// Clients that merge three ways drop a null.
			nullIsDropped := name != "kubectl apply --server-side"
			for i, step := range []struct {
				patch    string
				hasProbe bool
			}{
				{byNull, nullIsDropped},
				{another, true},
				{byAnnotation, false},
				{"", true},
				{byNull, nullIsDropped},
				{byAnnotation, false},
			} {
				apply(s, app, manifest+step.patch)
				s.reports(podWait, app, metav1.ConditionTrue, appstatus.ReasonStopped)
				containers := s.deploymentOf(app).Spec.Template.Spec.Containers
				if len(containers) != 1 || containers[0].Name != "orders" {
					t.Fatalf("after %q the containers are %v", step.patch, containers)
				}
				if got := containers[0].ReadinessProbe != nil; got != step.hasProbe {
					t.Errorf("after step %d, %q, it has a readiness probe: %t, want %t", i+1, step.patch, got, step.hasProbe)
				}
			}
		})
	}
}

// Five spellings of one size.
func TestC07AnotherSpellingOfAQuantityRestartsNothing(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("sizes")
	app := newEGApp(namespace, "sizes", 1)
	var pods []corev1.Pod
	for i := range 5 {
		s.kubectl("apply", "--namespace", namespace, "-f", filepath.Join("testdata", "quantities", fmt.Sprintf("%d.yaml", i+1)))
		s.reports(podWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
		if app.Generation != int64(i+1) {
			t.Fatalf("the EGApp has the generation %d after the spelling %d: it is the same as the one before", app.Generation, i+1)
		}
		if n := s.deploymentOf(app).Generation; n != 1 {
			t.Errorf("the Deployment has the generation %d after the spelling %d", n, i+1)
		}
		pods = s.runs(app, 1)
	}
	if sets := s.replicaSetsOf(app); len(sets) != 1 {
		t.Errorf("there are %d ReplicaSets, want 1", len(sets))
	}
	if memory := pods[0].Spec.Containers[0].Resources.Limits.Memory().String(); memory != "2Gi" {
		t.Errorf("the limit of memory is %s, want 2Gi", memory)
	}
}
