// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// WantsAutoscaler tells whether the workload is to have an autoscaler of its own: a
// second one beside that of somebody else would stop both, and what is stopped stays so.
func (w Workload) WantsAutoscaler(o Observed) bool {
	return w.Autoscaling != nil && w.Replicas > 0 && len(o.Autoscalers) == 0
}

// IsAutoscaled tells whether an autoscaler, the workload's own or another, decides how
// many pods run. One that scales the application itself does so by asking for Replicas.
// One of its own cannot be made while its name is taken.
func (w Workload) IsAutoscaled(o Observed) bool {
	if slices.ContainsFunc(o.Autoscalers, Autoscaler.scalesDeployment) {
		return w.Replicas > 0
	}
	object := o.Children[KindHorizontalPodAutoscaler]
	return w.WantsAutoscaler(o) && (object == nil || w.Owner.OwnershipOf(object) != Foreign || w.Owner.MayAdopt(object))
}

// scalesDeployment tells whether the autoscaler sets the number of pods past the
// application.
func (a Autoscaler) scalesDeployment() bool {
	return a.TargetKind == KindDeployment
}

// ScalingProblem returns why a HorizontalPodAutoscaler cannot scale, in the words of its
// controller, or the empty string if it can or if it rests because no pod runs.
func ScalingProblem(autoscaler *autoscalingv2.HorizontalPodAutoscaler) string {
	for _, c := range autoscaler.Status.Conditions {
		if c.Type == autoscalingv2.ScalingActive && c.Status == corev1.ConditionFalse && c.Reason != "ScalingDisabled" {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}
