// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

// restored saves every child, deletes it, and makes it again as a backup tool does: without
// UID, owner references and managed fields. The owner is another one then.
func (s *stage) restored() {
	s.Helper()
	for _, child := range s.observe().Children {
		object := child.(client.Object)
		s.must(s.user.Delete(s.Context(), object.DeepCopyObject().(client.Object)))
		object.SetUID("")
		object.SetResourceVersion("")
		object.SetOwnerReferences(nil)
		object.SetManagedFields(nil)
		object.SetCreationTimestamp(metav1.Time{})
		s.must(s.user.Create(s.Context(), object, client.FieldOwner("velero")))
	}
	s.w.Owner.UID = "uid-of-the-restored"
	s.restart()
}

func (s *stage) consent(kinds ...string) {
	s.Helper()
	for _, kind := range kinds {
		patch := `{"metadata":{"annotations":{"platform.evillgenius.com/adopt-by":"orders"}}}`
		s.must(s.user.Patch(s.Context(), s.child(kind), client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("kubectl-annotate")))
	}
}

func conflictsOf(applied workload.Applied) []string {
	var kinds []string
	for _, conflict := range applied.Conflicts {
		kinds = append(kinds, conflict.Kind+" "+conflict.Name+conflict.Obstacle)
	}
	slices.Sort(kinds)
	return kinds
}

func TestN24_WhatIsRestoredFromABackupIsAdoptedByConsentAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	everything(s, workload.ExposureIngress)
	s.settle()
	s.scale(7)
	s.settle()
	edit(s, "Deployment", func(d *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&d.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "2026-01-01T00:00:00Z")
	})
	s.settle()
	s.restored()
	before, template := s.observe().Children, s.deployment().Spec.Template
	writes := len(s.writes)

	applied := s.settle()
	kinds := []string{"ConfigMap", "Deployment", "Ingress", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceMonitor"}
	var named []string
	for _, conflict := range applied.Conflicts {
		named = append(named, conflict.Kind)
	}
	slices.Sort(named)
	if diff := cmp.Diff(kinds, named); diff != "" {
		t.Errorf("the conflicts (-want +got):\n%s", diff)
	}
	// With the consent of some nothing is half adopted.
	s.consent("Deployment", "Service")
	s.settle()
	s.wantWrites(writes)

	s.consent("ConfigMap", "HorizontalPodAutoscaler", "Ingress", "NetworkPolicy", "PodDisruptionBudget", "ServiceMonitor")
	s.neverBelow(7)
	s.wantCount(7)
	for kind, object := range s.observe().Children {
		if object.GetUID() != before[kind].GetUID() {
			t.Errorf("%s was made anew", kind)
		}
		if s.w.Owner.OwnershipOf(object) != workload.Ours || object.GetLabels()[workload.LabelOwnerUID] != "uid-of-the-restored" {
			t.Errorf("%s is not the owner's", kind)
		}
	}
	if diff := cmp.Diff(template, s.deployment().Spec.Template); diff != "" {
		t.Errorf("the pods are restarted (-want +got):\n%s", diff)
	}
	s.atRest()

	// What is no longer desired disappears, as it does without a restore.
	s.w.NetworkPolicy, s.w.Container.EnvFrom, s.w.Container.PresetEnv = nil, nil, nil
	s.settle()
	if container := s.deployment().Spec.Template.Spec.Containers[0]; container.EnvFrom != nil || s.child("NetworkPolicy") != nil || s.child("ConfigMap") != nil {
		t.Errorf("what the backup tool made stays: %v", container.EnvFrom)
	}
}

func TestN24_AHeldNumberSurvivesARestore(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.w.Autoscaling = autoscaling(2, 10)
	s.settle()
	s.scale(7)
	s.w.Autoscaling = nil
	s.neverBelow(7)
	s.restored()
	s.consent("Deployment", "Service")
	s.neverBelow(7)
	s.wantCount(7)
	s.atRest()
	s.w.Replicas = 4
	s.settle()
	s.wantCount(4)
	s.atRest()
	if got := s.deployment().Annotations; got[workload.AnnotationOverriddenReplicas] != "" || got[workload.AnnotationHeldReplicas] != "" {
		t.Errorf("the annotations are %v", got)
	}
}

func TestAnObjectThatDoesNotFitIsNotAdopted(t *testing.T) {
	t.Parallel()
	metadata := func(s *stage) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: s.w.Owner.Namespace, Name: "orders", Annotations: map[string]string{workload.AnnotationAdoptBy: "orders"}}
	}
	for name, test := range map[string]struct {
		object func(*stage) client.Object
		want   string
	}{
		"a Deployment with another selector": {func(s *stage) client.Object {
			labels := map[string]string{"app": "orders"}
			return &appsv1.Deployment{ObjectMeta: metadata(s), Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "b"}}},
				},
			}}
		}, "Deployment ordersspec.selector"},
		"a headless Service": {func(s *stage) client.Object {
			return &corev1.Service{ObjectMeta: metadata(s), Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 80}}}}
		}, "Service ordersspec.clusterIP"},
		"an object for another application": {func(s *stage) client.Object {
			service := &corev1.Service{ObjectMeta: metadata(s), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
			service.Annotations[workload.AnnotationAdoptBy] = "billing"
			return service
		}, "Service orders"},
		"an object that another controls": {func(s *stage) client.Object {
			service := &corev1.Service{ObjectMeta: metadata(s), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
			service.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Rollout", Name: "orders", UID: "x", Controller: new(true)}}
			return service
		}, "Service orders"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			object := test.object(s)
			s.must(s.user.Create(t.Context(), object))
			before := object.DeepCopyObject()
			s.settle()
			if diff := cmp.Diff([]string{test.want}, conflictsOf(s.settle())); diff != "" {
				t.Errorf("the conflicts (-want +got):\n%s", diff)
			}
			s.must(s.user.Get(t.Context(), client.ObjectKeyFromObject(object), object))
			if diff := cmp.Diff(before, object); diff != "" {
				t.Errorf("it was changed:\n%s", diff)
			}
		})
	}
}

func TestC09_NothingIsMadeWhileTheDeploymentsNameIsTaken(t *testing.T) {
	t.Parallel()
	for name, seen := range map[string]bool{"seen": true, "not in the cache": false} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			everything(s, workload.ExposureIngress)
			labels := map[string]string{"app": "orders"}
			s.must(s.user.Create(t.Context(), &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.w.Owner.Namespace, Name: "orders"},
				Spec: appsv1.DeploymentSpec{
					Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "b"}}}},
				},
			}))
			observed := s.observe()
			if !seen {
				delete(observed.Children, "Deployment")
			}
			applied, err := s.turnOn(observed)
			s.must(err)
			if diff := cmp.Diff([]string{"Deployment orders"}, conflictsOf(applied)); diff != "" {
				t.Errorf("the conflicts (-want +got):\n%s", diff)
			}
			s.wantWrites(0)
		})
	}
}

// A cache that lags, or a label that somebody took away, hides an object of ours: what was
// decided without it, such as the number of pods, must not be written to it.
func TestWhatWasDecidedWithoutALiveObjectIsNotWrittenToIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.w.Autoscaling = autoscaling(2, 10)
	s.settle()
	s.scale(7)
	s.settle()
	s.restart()
	observed := s.observe()
	delete(observed.Children, "Deployment")
	version := s.deployment().ResourceVersion
	applied, err := s.turnOn(observed)
	if err == nil || applied.Failure != nil || !strings.Contains(err.Error(), "modified") {
		t.Errorf("the turn ends with %v, %v; want a conflict that nobody is told of", err, applied.Failure)
	}
	if got := s.deployment(); got.ResourceVersion != version {
		t.Errorf("the Deployment was written: %d pods", *got.Spec.Replicas)
	}
}
