// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	autoscalingv2ac "k8s.io/client-go/applyconfigurations/autoscaling/v2"

	"platformapp/internal/workload"
)

// horizontalPodAutoscaler chooses the number of pods by what the application's own
// container uses. A sidecar without requests would keep an average over the pod from
// being computed at all.
func horizontalPodAutoscaler(w workload.Workload, o workload.Observed) *Child {
	if !w.WantsAutoscaler(o) {
		return nil
	}
	spec := autoscalingv2ac.HorizontalPodAutoscalerSpec().
		WithScaleTargetRef(autoscalingv2ac.CrossVersionObjectReference().
			WithAPIVersion(appsv1.SchemeGroupVersion.String()).
			WithKind(workload.KindDeployment).
			WithName(w.Owner.Name)).
		WithMinReplicas(w.Autoscaling.MinReplicas).
		WithMaxReplicas(w.Autoscaling.MaxReplicas)
	if target := w.Autoscaling.TargetCPU; target != nil {
		spec.WithMetrics(utilization(corev1.ResourceCPU, w.Container.Name, *target))
	}
	if target := w.Autoscaling.TargetMemory; target != nil {
		spec.WithMetrics(utilization(corev1.ResourceMemory, w.Container.Name, *target))
	}
	config := autoscalingv2ac.HorizontalPodAutoscaler(w.Owner.Name, w.Owner.Namespace).
		WithLabels(w.Owner.ChildLabels()).
		WithOwnerReferences(ownerReference(w.Owner)).
		WithSpec(spec)
	return &Child{Config: config, Meta: config.ObjectMetaApplyConfiguration}
}

// utilization aims at a percentage of what the container requests.
func utilization(resource corev1.ResourceName, container string, percentage int32) *autoscalingv2ac.MetricSpecApplyConfiguration {
	return autoscalingv2ac.MetricSpec().
		WithType(autoscalingv2.ContainerResourceMetricSourceType).
		WithContainerResource(autoscalingv2ac.ContainerResourceMetricSource().
			WithName(resource).
			WithContainer(container).
			WithTarget(autoscalingv2ac.MetricTarget().
				WithType(autoscalingv2.UtilizationMetricType).
				WithAverageUtilization(percentage)))
}
