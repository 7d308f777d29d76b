// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/internal/workload"
)

// facts are what the causes are found in.
type facts struct {
	workload workload.Workload
	observed workload.Observed
	applied  workload.Applied
	stall    *workload.Stall
	now      metav1.Time
	// deployment is the owner's, or nil.
	deployment *appsv1.Deployment
	// pods are those of the present pod template that are neither ended nor ending.
	pods []corev1.Pod
	// evicted are those of the present pod template that a node has evicted.
	evicted []corev1.Pod
	// seesPods tells whether pods of the present pod template were seen at all.
	seesPods bool
}

func newFacts(in Input) facts {
	f := facts{workload: in.Workload, observed: in.Observed, applied: in.Applied, stall: in.Stall, now: in.Now}
	deployment := in.Observed.Deployment()
	if deployment == nil || f.workload.Owner.OwnershipOf(deployment) != workload.Ours {
		return f
	}
	f.deployment = deployment
	if !f.deploymentIsCurrent() || (deployment.Status.UpdatedReplicas == 0 && f.replicas() > 0) {
		// What looks like the newest ReplicaSet is that of the template before.
		return f
	}
	current := in.Observed.CurrentPods() // A list of its own: the cache does not share it.
	f.seesPods = len(current) > 0
	for _, pod := range current {
		if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == "Evicted" {
			f.evicted = append(f.evicted, pod)
		}
	}
	f.pods = slices.DeleteFunc(current, func(pod corev1.Pod) bool { return !isActive(pod) })
	return f
}

// ours returns the child of a kind if it is there and the owner's.
func (f facts) ours(kind string) workload.Object {
	object := f.observed.Children[kind]
	if object == nil || f.workload.Owner.OwnershipOf(object) != workload.Ours {
		return nil
	}
	return object
}

// rolledOut tells whether the Deployment has carried out the present specification:
// all its pods are of the present template and available. A specification that stalls or
// is paused was not applied: then what was applied before it counts.
func (f facts) rolledOut() bool {
	d := f.deployment
	if d == nil || !f.deploymentIsCurrent() {
		return false
	}
	want := f.replicas()
	return d.Status.UpdatedReplicas == want && d.Status.Replicas == want && d.Status.AvailableReplicas == want
}

// deploymentIsCurrent tells whether the status of the Deployment is that of its present
// specification, as it was last seen and as it was last written.
func (f facts) deploymentIsCurrent() bool {
	since := f.applied.Generation
	if since == 0 {
		since = f.deployment.Generation
	}
	return f.deployment.Status.ObservedGeneration >= since
}

// replicas is the number of pods that the Deployment was told to run, by the workload or
// by an autoscaler.
func (f facts) replicas() int32 {
	if f.deployment != nil && f.deployment.Spec.Replicas != nil {
		return *f.deployment.Spec.Replicas
	}
	return f.workload.Replicas
}

// desiredReplicas is the number of pods that is asked for: by an autoscaler, or left behind
// by one that is gone, or else by the workload. One that is not carried out asks for nothing
// new.
func (f facts) desiredReplicas() int32 {
	if f.deployment != nil && (f.stall != nil || f.workload.IsAutoscaled(f.observed) || f.holdsReplicas()) {
		return f.replicas()
	}
	return f.workload.Replicas
}

// holdsReplicas tells whether the number of pods is that which an autoscaler left behind.
func (f facts) holdsReplicas() bool {
	held := f.deployment.Annotations[workload.AnnotationHeldReplicas]
	return held != "" && held != "0"
}

// paused tells whether the children are left as they are because the workload asks for it.
func (f facts) paused() bool { return f.stall == nil && f.workload.Paused }

// stopped tells whether no pods are asked for, by the workload or by an autoscaler.
func (f facts) stopped() bool {
	return f.stall == nil && (f.workload.Replicas == 0 || (f.deployment != nil && f.deploymentIsCurrent() && f.replicas() == 0))
}

// deploymentCondition returns a condition of the owner's Deployment, if the Deployment
// controller has seen the Deployment's present specification.
func (f facts) deploymentCondition(conditionType appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	if f.deployment == nil || !f.deploymentIsCurrent() {
		return nil
	}
	for i := range f.deployment.Status.Conditions {
		if condition := &f.deployment.Status.Conditions[i]; condition.Type == conditionType {
			return condition
		}
	}
	return nil
}

func (f facts) readyPods() int32 {
	var ready int32
	for _, pod := range f.pods {
		if isReady(pod) {
			ready++
		}
	}
	return ready
}
