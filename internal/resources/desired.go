// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package resources renders a workload as the objects that run it: one file a kind,
// and Kinds is the table of contents. It is pure: the same workload and observation
// give the same objects, byte for byte.
package resources

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"platformapp/internal/workload"
)

// Child is an object to be applied: exactly the fields that the operator means.
type Child struct {
	// Kind is the Kubernetes kind, for example Deployment.
	Kind string
	// Config is the apply configuration.
	Config runtime.ApplyConfiguration
	// Meta is the metadata inside Config.
	Meta *metav1ac.ObjectMetaApplyConfiguration
}

// Kind is a kind of child.
type Kind struct {
	// Name is the Kubernetes kind.
	Name string
	// New makes an empty object of the kind, to be read into.
	New func() workload.Object
	// render returns the child, or nil when the workload wants none of the kind.
	render func(workload.Workload, workload.Observed) *Child
}

// Kinds are all kinds of children, in the order in which they are applied. What is not
// in it is neither read, watched, made nor pruned.
var Kinds = []Kind{
	{workload.KindDeployment, func() workload.Object { return &appsv1.Deployment{} }, deployment},
	{"Service", func() workload.Object { return &corev1.Service{} }, service},
}

// Desired returns the children that the workload wants, in the order of Kinds.
func Desired(w workload.Workload, o workload.Observed) []Child {
	var children []Child
	for _, kind := range Kinds {
		if child := kind.render(w, o); child != nil {
			child.Kind = kind.Name
			children = append(children, *child)
		}
	}
	return children
}

// Surplus returns the observed children of the owner that are not desired, in the
// order of Kinds: what is to be pruned.
func Surplus(owner workload.Owner, desired []Child, o workload.Observed) []workload.Object {
	wanted := map[string]bool{}
	for _, child := range desired {
		wanted[child.Kind] = true
	}
	var surplus []workload.Object
	for _, kind := range Kinds {
		object := o.Children[kind.Name]
		if object != nil && !wanted[kind.Name] && owner.OwnershipOf(object) == workload.Ours {
			surplus = append(surplus, object)
		}
	}
	return surplus
}
