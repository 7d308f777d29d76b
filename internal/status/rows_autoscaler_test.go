// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// autoscaled gives the application an autoscaler of its own, which chose the number of
// pods that run.
func autoscaled(s *scene) {
	s.workload.Replicas, s.workload.Autoscaling = 2, &workload.Autoscaling{MinReplicas: 1, MaxReplicas: 9, TargetCPU: new(int32(70))}
}

// othersAutoscaler scales the application in place of one of its own.
func othersAutoscaler(problem string) func(*scene) {
	return func(s *scene) {
		s.workload.Replicas = 2
		s.autoscalers = []workload.Autoscaler{{Name: "keda-hpa-orders", TargetKind: "Deployment", Problem: problem}}
	}
}

// hpa is the application's own autoscaler with a condition.
func hpa(status corev1.ConditionStatus, reason, message string) func(*scene) {
	return func(s *scene) {
		s.children = map[string]workload.Object{"HorizontalPodAutoscaler": &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders", Labels: s.workload.Owner.ChildLabels()},
			Status: autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{
				{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue},
				{Type: autoscalingv2.ScalingActive, Status: status, Reason: reason, Message: message},
			}},
		}}
	}
}

func autoscalerRows() []row {
	serves := func(says, silent []string) want {
		return want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, says: says, silent: silent}
	}
	conflict := want{
		reason: appstatus.ReasonAutoscalerConflict, phase: appstatus.PhaseDegraded, stalled: true, available: true, documented: true,
		says: []string{"HorizontalPodAutoscaler keda-hpa-orders scales Deployment orders already", "Remove spec.autoscaling"},
	}
	stopped := func(says string) want {
		return want{reason: appstatus.ReasonStopped, phase: appstatus.PhaseStopped, available: true, says: []string{says}}
	}
	silent := []string{"cannot scale"}
	return []row{
		{"an autoscaler asks for more than the specification", running(7).with(autoscaled), serves([]string{"All 7 pods serve."}, silent)},
		{"an autoscaler scales up", running(5).with(autoscaled).with(func(s *scene) {
			starting(&s.pods[4])
			s.counts(5, 5, 4, 4)
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"4 of 5 pods"}}},
		{"N20 the autoscaler cannot scale", running(3).with(autoscaled).with(hpa(corev1.ConditionFalse, "FailedGetResourceMetric", "no metrics returned from resource metrics API")),
			serves([]string{"All 3 pods serve. The autoscaler cannot scale: FailedGetResourceMetric: no metrics returned from resource metrics API."}, nil).onThePage()},
		{"the autoscaler can scale", running(3).with(autoscaled).with(hpa(corev1.ConditionTrue, "ValidMetricFound", "m")), serves(nil, silent)},
		{"the autoscaler that is on its way out cannot scale", running(3).with(hpa(corev1.ConditionFalse, "FailedGetResourceMetric", "m")), serves(nil, silent)},
		{"an autoscaler of somebody else scales", running(5).with(othersAutoscaler("")), serves([]string{"All 5 pods serve."}, silent)},
		{"an autoscaler of somebody else cannot scale", running(3).with(othersAutoscaler("AmbiguousSelector: two of them")),
			serves([]string{"HorizontalPodAutoscaler keda-hpa-orders cannot scale: AmbiguousSelector: two of them."}, nil)},
		{"N21 an autoscaler of somebody else is there already", running(3).with(autoscaled).with(othersAutoscaler("")), conflict},
		{"an autoscaler of somebody else is there and the application is stopped", running(0).with(autoscaled).with(othersAutoscaler("")).with(func(s *scene) { s.workload.Replicas = 0 }), stopped("no pod is asked for")},
		{"N21 an autoscaler of somebody else scaled to nothing", running(0).with(othersAutoscaler("")), stopped("Stopped: the autoscaler asks for no pod.")},
		{"an autoscaler that scaled to nothing is gone", running(0).with(func(s *scene) {
			s.workload.Replicas = 2
			s.deployment.Annotations[workload.AnnotationHeldReplicas] = "0"
		}), stopped("an autoscaler that is gone left no pod behind. Change spec.replicaCount")},
		{"C21 the autoscaler is at rest since no pod is asked for", running(0).with(autoscaled).with(hpa(corev1.ConditionFalse, "ScalingDisabled", "replica count of the target is zero")), want{
			reason: appstatus.ReasonStopped, phase: appstatus.PhaseStopped, available: true, silent: silent,
		}},
	}
}
