// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Ownership is whose an object is, seen from an owner that wants a child of its name.
type Ownership string

const (
	// Ours: the owner controls the object, or nobody does and it carries the owner's
	// UID, so that a reference that somebody took away is put back.
	Ours Ownership = "Ours"
	// Predecessors: an owner of the same kind and name, but of another UID, controls
	// the object; garbage collection removes it.
	Predecessors Ownership = "Predecessors"
	// Foreign: the object is somebody else's and is left alone.
	Foreign Ownership = "Foreign"
)

// OwnershipOf tells whose obj is, seen from the owner o.
func (o Owner) OwnershipOf(obj metav1.Object) Ownership {
	controller := metav1.GetControllerOfNoCopy(obj)
	switch {
	case controller == nil && o.UID != "" && obj.GetLabels()[LabelOwnerUID] == string(o.UID):
		return Ours
	case controller == nil:
		return Foreign
	case controller.UID == o.UID:
		return Ours
	case controller.Kind == o.Kind && controller.Name == o.Name && sameGroup(controller.APIVersion, o.Group):
		return Predecessors
	default:
		return Foreign
	}
}

// MayAdopt tells whether an object of somebody else consents to its adoption by the owner:
// it says so itself, nobody controls it, and it is not on its way out.
func (o Owner) MayAdopt(obj metav1.Object) bool {
	return obj.GetAnnotations()[AnnotationAdoptBy] == o.Name && metav1.GetControllerOfNoCopy(obj) == nil && obj.GetDeletionTimestamp() == nil
}

func sameGroup(apiVersion, group string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && gv.Group == group
}
