// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"platformapp/internal/workload"
)

// configuration is an apply configuration of the kinds for which client-go has none. Spec
// is the type of their API: a field that it does not leave out when it is zero is claimed.
type configuration[Spec any] struct {
	metav1ac.TypeMetaApplyConfiguration    `json:",inline"`
	*metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`
	Spec                                   Spec `json:"spec"`
}

// IsApplyConfiguration makes it an apply configuration.
func (configuration[Spec]) IsApplyConfiguration() {}

// child returns the owner's child of a kind with a specification.
func child[Spec any](o workload.Owner, gvk schema.GroupVersionKind, spec Spec) *Child {
	meta := metav1ac.ObjectMeta().
		WithName(o.Name).
		WithNamespace(o.Namespace).
		WithLabels(o.ChildLabels()).
		WithOwnerReferences(ownerReference(o))
	config := &configuration[Spec]{
		TypeMetaApplyConfiguration:   *metav1ac.TypeMeta().WithAPIVersion(gvk.GroupVersion().String()).WithKind(gvk.Kind),
		ObjectMetaApplyConfiguration: meta,
		Spec:                         spec,
	}
	return &Child{Config: config, Meta: meta}
}
