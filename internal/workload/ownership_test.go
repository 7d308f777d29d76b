// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"platformapp/internal/workload"
)

func TestOwnershipOf(t *testing.T) {
	owner := workload.Owner{
		GroupVersionKind: schema.GroupVersionKind{Group: "egplatform.platform.evillgenius.com", Version: "v1alpha1", Kind: "EGApp"},
		Namespace:        "team-a", Name: "orders", UID: "uid-1", SelectorKey: workload.LabelEGApp,
	}
	ours := metav1.OwnerReference{
		APIVersion: "egplatform.platform.evillgenius.com/v1alpha1", Kind: "EGApp", Name: "orders", UID: "uid-1", Controller: new(true),
	}
	with := func(change func(*metav1.OwnerReference)) []metav1.OwnerReference {
		reference := ours
		change(&reference)
		return []metav1.OwnerReference{reference}
	}
	uidLabel := func(uid string) map[string]string { return map[string]string{workload.LabelOwnerUID: uid} }

	for _, test := range []struct {
		name       string
		references []metav1.OwnerReference
		labels     map[string]string
		want       workload.Ownership
	}{
		{"controlled by the owner", []metav1.OwnerReference{ours}, nil, workload.Ours},
		{"controlled by the owner, label of another", []metav1.OwnerReference{ours}, uidLabel("uid-0"), workload.Ours},
		{"controlled by the owner in another version", with(func(r *metav1.OwnerReference) {
			r.APIVersion = "egplatform.platform.evillgenius.com/v1"
		}), nil, workload.Ours},
		{"reference taken away, label left", nil, uidLabel("uid-1"), workload.Ours},
		{"reference no longer of a controller, label left", with(func(r *metav1.OwnerReference) { r.Controller = nil }), uidLabel("uid-1"), workload.Ours},

		{"controlled by a predecessor", with(func(r *metav1.OwnerReference) { r.UID = "uid-0" }), uidLabel("uid-0"), workload.Predecessors},
		{"controlled by a predecessor in another version", with(func(r *metav1.OwnerReference) {
			r.UID, r.APIVersion = "uid-0", "egplatform.platform.evillgenius.com/v1beta7"
		}), nil, workload.Predecessors},
		{"controlled by a predecessor, label of the owner", with(func(r *metav1.OwnerReference) { r.UID = "uid-0" }), uidLabel("uid-1"), workload.Predecessors},

		{"nobody's", nil, nil, workload.Foreign},
		{"nobody's, label of another owner", nil, uidLabel("uid-0"), workload.Foreign},
		{"nobody's, all our other labels", nil, owner.PodLabels(), workload.Foreign},
		{"nobody's, empty label", nil, uidLabel(""), workload.Foreign},
		{"owned but not controlled by the owner", with(func(r *metav1.OwnerReference) { r.Controller = new(false) }), nil, workload.Foreign},
		{"controlled by another EGApp", with(func(r *metav1.OwnerReference) { r.Name, r.UID = "other", "uid-2" }), nil, workload.Foreign},
		{"controlled by another kind of the same name", with(func(r *metav1.OwnerReference) {
			r.Kind, r.APIVersion, r.UID = "DemoMicroService", "devops.my.domain/v1", "uid-2"
		}), nil, workload.Foreign},
		{"controlled by the same kind of another group", with(func(r *metav1.OwnerReference) {
			r.APIVersion, r.UID = "example.com/v1alpha1", "uid-2"
		}), nil, workload.Foreign},
		{"controlled by another, label of the owner", with(func(r *metav1.OwnerReference) {
			r.Kind, r.UID = "Rollout", "uid-2"
		}), uidLabel("uid-1"), workload.Foreign},
		{"controlled by something of no proper version", with(func(r *metav1.OwnerReference) {
			r.APIVersion, r.UID = "a/b/c", "uid-2"
		}), nil, workload.Foreign},
		{"controlled by another, also owned by the owner", []metav1.OwnerReference{
			{APIVersion: ours.APIVersion, Kind: ours.Kind, Name: ours.Name, UID: ours.UID},
			{APIVersion: "example.com/v1", Kind: "Rollout", Name: "orders", UID: "uid-2", Controller: new(true)},
		}, nil, workload.Foreign},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &metav1.ObjectMeta{Namespace: "team-a", Name: "orders", OwnerReferences: test.references, Labels: test.labels}
			if got := owner.OwnershipOf(object); got != test.want {
				t.Errorf("is %s, want %s", got, test.want)
			}
		})
	}
}
