// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

const kindAutoscaler = "HorizontalPodAutoscaler"

// autoscalerConflict is an autoscaler of somebody else beside which the workload's own
// is not made: two of them stop each other.
func autoscalerConflict(f facts) *cause {
	if f.workload.Autoscaling == nil || f.workload.Replicas == 0 || len(f.observed.Autoscalers) == 0 {
		return nil
	}
	other := f.observed.Autoscalers[0]
	return &cause{
		reason: appstatus.ReasonAutoscalerConflict,
		message: fmt.Sprintf("%s %s scales %s %s already, so spec.autoscaling is not carried out: two autoscalers would stop each other. Remove spec.autoscaling, or delete that %s.",
			kindAutoscaler, other.Name, other.TargetKind, f.workload.Owner.Name, kindAutoscaler),
		phase:   appstatus.PhaseDegraded,
		stalled: true,
	}
}

// scalingRemark tells that whatever scales the workload cannot, in its own words.
func (f facts) scalingRemark() []string {
	var remarks []string
	if own, ok := f.ours(kindAutoscaler).(*autoscalingv2.HorizontalPodAutoscaler); ok && f.workload.WantsAutoscaler(f.observed) {
		if words := workload.ScalingProblem(own); words != "" {
			remarks = append(remarks, quoted("The autoscaler cannot scale", words))
		}
	}
	for _, other := range f.observed.Autoscalers {
		if other.Problem != "" {
			remarks = append(remarks, quoted(fmt.Sprintf("%s %s cannot scale", kindAutoscaler, other.Name), other.Problem))
		}
	}
	return remarks
}

// stoppedMessage tells who asks for no pod.
func (f facts) stoppedMessage() string {
	switch {
	case f.workload.Replicas == 0:
		return "Stopped: no pod is asked for."
	case f.workload.IsAutoscaled(f.observed):
		return "Stopped: the autoscaler asks for no pod."
	case f.deployment != nil && f.deployment.Annotations[workload.AnnotationHeldReplicas] != "":
		return "Stopped: an autoscaler that is gone left no pod behind. Change spec.replicaCount to start the application."
	default:
		return "Stopped: the Deployment asks for no pod."
	}
}
