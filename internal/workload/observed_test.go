// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"platformapp/internal/workload"
)

func TestDeploymentOfObserved(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "orders"}}
	for _, test := range []struct {
		name     string
		observed workload.Observed
		want     *appsv1.Deployment
	}{
		{"nothing observed", workload.Observed{}, nil},
		{"no Deployment", workload.Observed{Children: map[string]workload.Object{"Service": &corev1.Service{}}}, nil},
		{"a Deployment", workload.Observed{Children: map[string]workload.Object{"Deployment": deployment}}, deployment},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.observed.Deployment(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestCurrentPodsAreOfTheNewestReplicaSet(t *testing.T) {
	revision := func(number string) map[string]string {
		if number == "" {
			return nil
		}
		return map[string]string{workload.AnnotationRevision: number}
	}
	replicaSet := func(uid, number string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: uid, UID: types.UID(uid), Annotations: revision(number)}}
	}
	pod := func(name, controller string) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if controller != "" {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: controller, UID: types.UID(controller), Controller: new(true)}}
		}
		return p
	}
	pods := []corev1.Pod{pod("a-new", "new"), pod("b-old", "old"), pod("c-new", "new"), pod("d-loose", ""), pod("e-other", "other")}

	for _, test := range []struct {
		name        string
		revision    string
		replicaSets []metav1.PartialObjectMetadata
		want        []string
	}{
		{"a rollout under way", "2", []metav1.PartialObjectMetadata{replicaSet("old", "1"), replicaSet("new", "2")}, []string{"a-new", "c-new"}},
		{"ten is newer than nine", "10", []metav1.PartialObjectMetadata{replicaSet("old", "9"), replicaSet("new", "10")}, []string{"a-new", "c-new"}},
		{"rolled back: the older ReplicaSet has the newest number", "3", []metav1.PartialObjectMetadata{replicaSet("old", "3"), replicaSet("new", "2")}, []string{"b-old"}},
		{"the Deployment does not know its newest ReplicaSet yet", "2", []metav1.PartialObjectMetadata{replicaSet("old", "1"), replicaSet("new", "3")}, nil},
		{"nothing is numbered yet", "", []metav1.PartialObjectMetadata{replicaSet("new", "")}, []string{"a-new", "c-new"}},
		{"no ReplicaSet", "1", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			observed := workload.Observed{
				Children:    map[string]workload.Object{"Deployment": &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Annotations: revision(test.revision)}}},
				ReplicaSets: test.replicaSets,
				Pods:        pods,
			}
			var got []string
			for _, p := range observed.CurrentPods() {
				got = append(got, p.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("current pods (-want +got):\n%s", diff)
			}
		})
	}
	if got := (workload.Observed{Pods: pods}).CurrentPods(); got != nil {
		t.Errorf("current pods %v without a Deployment", got)
	}
}
