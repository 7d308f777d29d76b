// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The names on children and pods. They are as frozen as the schema: running objects
// of an earlier version carry them.
const (
	// FieldManager applies the children.
	FieldManager = "platformapp"
	// FieldManagerReplicas holds the number of pods while an autoscaler takes it over.
	FieldManagerReplicas = "platformapp-replicas"

	// LabelManagedBy is on every child and pod; the caches hold only objects with it.
	LabelManagedBy = "platform.evillgenius.com/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "platformapp"
	// LabelEGApp selects the pods of the EGApp that is its value.
	LabelEGApp = "platform.evillgenius.com/egapp"
	// LabelDemoMicroService selects the pods of the DemoMicroService that is its value.
	LabelDemoMicroService = "devops.my.domain/demomicroservice"
	// LabelOwnerUID is on children, not on pods: it tells whose a child is when its
	// owner reference was taken away.
	LabelOwnerUID = "platform.evillgenius.com/owner-uid"

	// LabelName and LabelAppManagedBy are for people and never selected by
	// (https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/).
	LabelName = "app.kubernetes.io/name"
	// LabelAppManagedBy names the tool that manages an object.
	LabelAppManagedBy = "app.kubernetes.io/managed-by"

	// AnnotationAppliedHash is the hash of what was last applied to a child.
	AnnotationAppliedHash = "platform.evillgenius.com/applied-hash"
	// AnnotationAdoptBy on an object of somebody else consents to its adoption by the
	// application that is its value.
	AnnotationAdoptBy = "platform.evillgenius.com/adopt-by"
	// AnnotationAllowEGApps on a ServiceAccount, with the value true, lets EGApps run as it.
	AnnotationAllowEGApps = "platform.evillgenius.com/allow-egapps"
	// AnnotationConfigHash on pods is the hash of the configuration that they use.
	AnnotationConfigHash = "platform.evillgenius.com/config-hash"
	// AnnotationRuntimeEnvHash on pods is the hash of the preset's variables, where they come
	// from a ConfigMap.
	AnnotationRuntimeEnvHash = "platform.evillgenius.com/runtime-env-hash"
	// AnnotationRemove in a pod template patch lists fields of the generated pods that are
	// to be left out. It does not reach the pods.
	AnnotationRemove = "platform.evillgenius.com/remove"
	// AnnotationOverriddenReplicas on a Deployment is the number of pods that the
	// application asked for when an autoscaler took over. FieldManagerReplicas sets it.
	AnnotationOverriddenReplicas = "platform.evillgenius.com/overridden-replicas"
	// AnnotationHeldReplicas on a Deployment is the number of pods that the autoscaler left
	// behind, which is held until the application asks for another one than it overrode.
	AnnotationHeldReplicas = "platform.evillgenius.com/held-replicas"
	// AnnotationDefaultImage on the Deployment of an application that names no image is the
	// one that it was given, after what it is the default of: java=registry.example.com/java:21.
	AnnotationDefaultImage = "platform.evillgenius.com/default-image"
	// AnnotationDefaultContainer names the container that kubectl logs and exec take.
	AnnotationDefaultContainer = "kubectl.kubernetes.io/default-container"
)

// MainContainer addresses the application's container in a pod template patch, whatever
// its name is.
const MainContainer = "main"

// Selector returns the labels that select exactly the owner's pods. It never changes
// in the life of the owner.
func (o Owner) Selector() map[string]string {
	return map[string]string{o.SelectorKey: o.Name}
}

// PodLabels returns the labels of the owner's pods. None comes from the owner's own
// labels, so that a change of those restarts nothing.
func (o Owner) PodLabels() map[string]string {
	return map[string]string{
		o.SelectorKey:     o.Name,
		LabelManagedBy:    ManagedBy,
		LabelName:         o.Name,
		LabelAppManagedBy: ManagedBy,
	}
}

// ChildLabels returns the labels of the owner's children: those of the pods, the
// owner's UID, and of the owner's own labels the propagated ones.
func (o Owner) ChildLabels() map[string]string {
	labels := PropagatedLabels(o.Labels)
	maps.Copy(labels, o.PodLabels())
	labels[LabelOwnerUID] = string(o.UID)
	return labels
}

// PropagatedLabels returns the labels of an owner that its children carry too: those whose
// key has no prefix. Such keys are private to the user; keys with a prefix belong to a
// tool (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/), which
// would take a child that carries a copy for an object of its own, and may delete it.
func PropagatedLabels(labels map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range labels {
		if !strings.Contains(key, "/") {
			out[key] = value
		}
	}
	return out
}

// ContainerName makes a DNS label of an application's id: lower-case letters, digits
// and '-', at most 63 of them. An id of which nothing is left gives fallback, which
// must be a DNS label.
func ContainerName(id, fallback string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return '-'
		}
	}, id)
	if len(name) > validation.DNS1123LabelMaxLength {
		name = name[:validation.DNS1123LabelMaxLength]
	}
	if name = strings.Trim(name, "-"); name == "" {
		return fallback
	}
	return name
}
