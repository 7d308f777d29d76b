// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"platformapp/internal/workload"
)

// replicas is who decides how many pods run.
//
// Two field managers share the number, since dropping a field that one owns alone resets
// it to 1. FieldManager owns it while no autoscaler is there. When one comes,
// FieldManagerReplicas first applies the live number, with the annotation of the number
// that is overridden, and then FieldManager drops it. When the autoscaler goes,
// FieldManager first takes the number back, with the annotation of a held number, and
// FieldManagerReplicas lets go only when nothing is held any more. So the first
// annotation without the second means that FieldManager does not own the number, and a
// turn that ends between two writes leaves a state that tells the next how to go on.
type replicas struct {
	// count is what FieldManager applies; nil leaves it to the autoscaler.
	count *int32
	// held is the annotation of a held number; 0 holds none and nil leaves it out.
	held *int32
	// handover is nil where FieldManagerReplicas has nothing to do.
	handover *appsv1ac.DeploymentApplyConfiguration
}

// replicasOf decides who decides how many pods run.
func replicasOf(w workload.Workload, o workload.Observed) replicas {
	live := o.Deployment()
	switch {
	case live == nil:
		// An autoscaler takes over what it finds.
		return replicas{count: new(firstReplicas(w, o))}
	case w.IsAutoscaled(o):
		return autoscaledReplicas(w, o, live)
	default:
		return ownReplicas(w, live)
	}
}

// autoscaledReplicas hands the number to the autoscaler, unless it has it. What is stopped
// is started first, since a handover never changes the number; but an autoscaler of
// somebody else may have stopped it.
func autoscaledReplicas(w workload.Workload, o workload.Observed, live *appsv1.Deployment) replicas {
	overridden, isOverridden := replicasIn(live, workload.AnnotationOverriddenReplicas)
	held, owned := replicasIn(live, workload.AnnotationHeldReplicas)
	current := liveReplicas(live)
	switch {
	case isOverridden && !owned && (current > 0 || !w.WantsAutoscaler(o)):
		return replicas{}
	case current == 0 && isOverridden:
		return replicas{count: new(firstReplicas(w, o)), held: new(int32(0))}
	case current == 0:
		return replicas{count: new(firstReplicas(w, o))}
	case !isOverridden || held == 0:
		overridden = w.Replicas
	}
	return replicas{handover: takeOver(w.Owner, current, overridden)}
}

// ownReplicas is as many pods as the workload asks for, or as many as an autoscaler that
// is gone has left, until the workload asks for another number than was overridden.
func ownReplicas(w workload.Workload, live *appsv1.Deployment) replicas {
	overridden, isOverridden := replicasIn(live, workload.AnnotationOverriddenReplicas)
	held, owned := replicasIn(live, workload.AnnotationHeldReplicas)
	current := liveReplicas(live)
	switch {
	case !isOverridden:
		return replicas{count: new(w.Replicas)}
	case !owned && overridden == w.Replicas && current > 0:
		return replicas{count: new(current), held: new(current)}
	case !owned:
		return replicas{count: new(w.Replicas), held: new(int32(0))}
	case overridden == w.Replicas && held > 0:
		return replicas{count: new(held), held: new(held)}
	default:
		return replicas{count: new(w.Replicas), handover: release(w.Owner)}
	}
}

// takeOver makes FieldManagerReplicas own the number.
func takeOver(o workload.Owner, count, overridden int32) *appsv1ac.DeploymentApplyConfiguration {
	return appsv1ac.Deployment(o.Name, o.Namespace).
		WithAnnotations(map[string]string{workload.AnnotationOverriddenReplicas: formatReplicas(overridden)}).
		WithSpec(appsv1ac.DeploymentSpec().WithReplicas(count))
}

// release makes FieldManagerReplicas own nothing. FieldManager owns the number already.
func release(o workload.Owner) *appsv1ac.DeploymentApplyConfiguration {
	return appsv1ac.Deployment(o.Name, o.Namespace)
}

// firstReplicas is how many pods an application starts with: as many as it asks for, in
// the bounds of its own autoscaler.
func firstReplicas(w workload.Workload, o workload.Observed) int32 {
	if !w.WantsAutoscaler(o) {
		return w.Replicas
	}
	return min(max(w.Replicas, w.Autoscaling.MinReplicas), w.Autoscaling.MaxReplicas)
}

// liveReplicas is the number that a Deployment has, which the server sets to 1 when
// nobody does.
func liveReplicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// replicasIn reads a number of pods from an annotation, and tells whether it holds one.
func replicasIn(d *appsv1.Deployment, annotation string) (int32, bool) {
	count, err := strconv.ParseInt(d.Annotations[annotation], 10, 32)
	if err != nil || count < 0 {
		return 0, false
	}
	return int32(count), true
}

func formatReplicas(count int32) string { return strconv.FormatInt(int64(count), 10) }
