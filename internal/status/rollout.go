// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
)

func deploymentPaused(f facts) *cause {
	if f.deployment == nil || !f.deployment.Spec.Paused || f.rolledOut() {
		return nil
	}
	owner := f.workload.Owner
	return &cause{
		reason:  appstatus.ReasonDeploymentPaused,
		message: fmt.Sprintf("Somebody paused the Deployment. To go on: kubectl rollout resume deployment/%s -n %s.", owner.Name, owner.Namespace),
		phase:   appstatus.PhaseDegraded,
		stalled: true,
	}
}

func progressDeadline(f facts) *cause {
	condition := f.deploymentCondition(appsv1.DeploymentProgressing)
	if condition == nil || condition.Reason != "ProgressDeadlineExceeded" || f.rolledOut() {
		return nil
	}
	return &cause{
		reason:  appstatus.ReasonProgressDeadlineExceeded,
		message: quoted("The rollout stands still", condition.Message),
		phase:   appstatus.PhaseDegraded,
		stalled: true,
	}
}

func rollingOut(f facts) *cause {
	if f.rolloutIsOver() {
		return nil
	}
	message := someOf(f.servingReplicas(), f.replicas(), "runs the specification and serves.", "run the specification and serve.")
	if f.deployment != nil && max(f.deployment.Generation, f.applied.Generation) > 1 && !f.deploymentIsCurrent() {
		message = "The change has yet to be taken up by the Deployment."
	} else if f.deployment != nil && f.deployment.Status.Replicas > f.replicas() {
		message += fmt.Sprintf(" Pods that have yet to end: %d.", f.deployment.Status.Replicas-f.replicas())
	}
	message = joined(message, f.whyNotReady("ReadinessGatesNotReady"), f.whyReplaced())
	return &cause{reason: appstatus.ReasonRollingOut, message: message, phase: appstatus.PhaseUpdating}
}

// servingReplicas is how many pods of the present specification serve at the least: the
// Deployment does not tell how many of the available pods are of an earlier one.
func (f facts) servingReplicas() int32 {
	if f.deployment == nil || !f.deploymentIsCurrent() {
		return 0
	}
	s := f.deployment.Status
	return max(0, min(s.UpdatedReplicas, s.AvailableReplicas-(s.Replicas-s.UpdatedReplicas), f.replicas()))
}

// rolloutIsOver tells whether nothing of a rollout, or of a change of the number of
// pods, is left to do.
func (f facts) rolloutIsOver() bool {
	return f.rolledOut() || (f.hasRolledOut() && (!f.seesPods || slices.ContainsFunc(f.pods, hasStoppedServing)))
}

// hasRolledOut tells whether the rollout of the present specification was completed at
// some time, whatever became of its pods since then.
func (f facts) hasRolledOut() bool {
	condition := f.deploymentCondition(appsv1.DeploymentProgressing)
	d := f.deployment
	return condition != nil && condition.Reason == "NewReplicaSetAvailable" &&
		d.Status.UpdatedReplicas == f.replicas() && d.Status.Replicas == f.replicas()
}

// podsNotReady finds pods that have stopped serving, also before the Deployment knows.
func podsNotReady(f facts) *cause {
	ready, want := f.readyPods(), f.replicas()
	if f.rolledOut() && (!f.seesPods || (ready >= want && int(ready) == len(f.pods))) {
		return nil
	}
	if f.seesPods && ready >= want {
		return &cause{
			reason:  appstatus.ReasonRollingOut,
			message: fmt.Sprintf("Pods beyond those that are asked for have yet to end: %d.", len(f.pods)-int(want)),
			phase:   appstatus.PhaseUpdating, reconciling: true,
		}
	}
	if f.rolledOut() && f.podsLagBehind() {
		return &cause{
			reason:  appstatus.ReasonRollingOut,
			message: someOf(ready, want, "runs the specification and serves.", "run the specification and serve."),
			phase:   appstatus.PhaseUpdating, reconciling: true,
		}
	}
	if !f.seesPods {
		ready = f.deployment.Status.ReadyReplicas
	}
	message := joined(someOf(ready, want, "is ready.", "are ready."), f.whyNotReady(""), f.whereLost(), f.whyReplaced())
	return &cause{reason: appstatus.ReasonPodsNotReady, message: message, phase: appstatus.PhaseDegraded}
}

// podsLagBehind tells whether all pods are there and each that is not ready is on its way to that: a Deployment that counts
// them all as available was seen at another time, since pods come by a watch of their own. This is no fall.
func (f facts) podsLagBehind() bool {
	return len(f.pods) == int(f.replicas()) && !slices.ContainsFunc(f.pods, hasStoppedServing)
}

// whyNotReady passes on what the first pod that is not ready says about it; a reason
// leaves out the pods that have another.
func (f facts) whyNotReady(reason string) string {
	for _, pod := range f.pods {
		c := podConditionIs(pod, corev1.PodReady, corev1.ConditionFalse)
		if c != nil && c.Message != "" && (reason == "" || reason == c.Reason) {
			return quoted("Pod "+pod.Name, c.Message)
		}
	}
	return ""
}

// whereLost names the node of the first pod that is not ready although its containers are, and
// does not say why: so the node controller marks the pods of a node that does not answer.
func (f facts) whereLost() string {
	for _, pod := range f.pods {
		notReady := podConditionIs(pod, corev1.PodReady, corev1.ConditionFalse)
		isLost := notReady != nil && notReady.Reason == "" && podConditionIs(pod, corev1.ContainersReady, corev1.ConditionTrue) != nil
		if node := pod.Spec.NodeName; isLost && node != "" {
			return fmt.Sprintf("Pod %s: its containers were ready when its node was last heard of. Node %s may be lost: see kubectl get node %[2]s.", pod.Name, node)
		}
	}
	return ""
}

// replacementBudget is how many seconds after an eviction the pod that replaces the evicted
// one is on its node, if there is room.
const replacementBudget = 60

// whyReplaced tells why the first pod that was evicted was, if one that is not ready replaces
// it. An older eviction explains nothing.
func (f facts) whyReplaced() string {
	for _, evicted := range f.evicted {
		var end int64
		for _, c := range evicted.Status.Conditions {
			end = max(end, c.LastTransitionTime.Unix())
		}
		for _, pod := range f.pods {
			scheduled := podConditionIs(pod, corev1.PodScheduled, corev1.ConditionTrue)
			if isReady(pod) || scheduled == nil {
				continue
			}
			if since := scheduled.LastTransitionTime.Unix() - end; since >= 0 && since <= replacementBudget {
				return quoted(fmt.Sprintf("Pod %s was evicted", evicted.Name), evicted.Status.Message)
			}
		}
	}
	return ""
}
