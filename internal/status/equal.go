// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
)

// IsSame tells whether two statuses say the same, as equality.Semantic does for a tenth of the cost: it is asked at each
// turn. What is empty and what is left out is the same.
func IsSame(a, b appstatus.Status) bool {
	return a.ObservedGeneration == b.ObservedGeneration && a.Phase == b.Phase &&
		slices.EqualFunc(a.Conditions, b.Conditions, isSameCondition) &&
		a.Replicas == b.Replicas && a.DesiredReplicas == b.DesiredReplicas && a.ReadyReplicas == b.ReadyReplicas &&
		a.UpdatedReplicas == b.UpdatedReplicas && a.AvailableReplicas == b.AvailableReplicas &&
		a.Selector == b.Selector && a.Image == b.Image &&
		slices.Equal(a.Pods, b.Pods) && maps.EqualFunc(a.PodStatuses, b.PodStatuses, slices.Equal[[]string])
}

func isSameCondition(a, b metav1.Condition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.ObservedGeneration == b.ObservedGeneration &&
		a.LastTransitionTime.Equal(&b.LastTransitionTime) && a.Reason == b.Reason && a.Message == b.Message
}

// AreSameDetails tells whether two details say the same, as IsSame does.
func AreSameDetails(a, b appstatus.Details) bool {
	return a.URL == b.URL && areSame(a.Expose, b.Expose, isSameExposure) && areSame(a.Resources, b.Resources, areSameResources)
}

func isSameExposure(a, b appstatus.Exposure) bool { return a == b }

func areSameResources(a, b appstatus.Resources) bool {
	return areSameAmounts(a.Limits, b.Limits) && areSameAmounts(a.Requests, b.Requests)
}

func areSameAmounts(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

func areSame[T any](a, b *T, same func(T, T) bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return same(*a, *b)
}
