// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// cause is why an application is not ready.
type cause struct {
	reason, message string
	phase           appstatus.Phase
	// stalled: nothing moves on before a person acts.
	stalled bool
	// reconciling: a change is under way, though the Deployment is at rest.
	reconciling bool
}

// ranking holds the causes in the order in which a person must act on them: what keeps
// objects from being written, what keeps pods from being made, what keeps pods from
// running, what keeps the rollout from ending.
var ranking = []func(facts) *cause{
	invalidSpec,
	nameConflict,
	applyFailure,
	terminating,
	replicaFailure,
	podFailure,
	deploymentPaused,
	progressDeadline,
	rollingOut,
	podsNotReady,
}

func (f facts) firstCause() *cause {
	for _, find := range ranking {
		if c := find(f); c != nil {
			// Whatever the cause is, a rollout that has stood still for too long needs a person.
			c.stalled = c.stalled || (!c.reconciling && progressDeadline(f) != nil)
			return c
		}
	}
	return nil
}

func invalidSpec(f facts) *cause {
	if f.invalid == nil {
		return nil
	}
	message := "The specification is not carried out: " + f.invalid.Error()
	if f.deployment != nil {
		message += ". What ran before runs on."
	}
	return &cause{reason: appstatus.ReasonInvalidSpec, message: message, phase: appstatus.PhaseInvalid, stalled: true}
}

func nameConflict(f facts) *cause {
	if len(f.applied.Conflicts) == 0 {
		return nil
	}
	conflict := f.applied.Conflicts[0]
	whose := "has no controller"
	if conflict.Controller != "" {
		whose = "is controlled by " + conflict.Controller
	}
	return &cause{
		reason: appstatus.ReasonNameConflict,
		message: fmt.Sprintf("%s %s/%s exists already, %s and is left alone. Choose another name for the %s, or delete that %s if nobody needs it.",
			conflict.Kind, f.workload.Owner.Namespace, f.workload.Owner.Name, whose, f.workload.Owner.Kind, conflict.Kind),
		phase:   appstatus.PhaseConflict,
		stalled: true,
	}
}

func applyFailure(f facts) *cause {
	failure := f.applied.Failure
	if failure == nil {
		return nil
	}
	c := &cause{message: fmt.Sprintf("%s: %s", failure.Kind, failure.Message), phase: appstatus.PhaseDegraded}
	switch failure.Reason {
	case workload.FailureForbidden:
		c.reason, c.stalled = appstatus.ReasonForbidden, true
		c.message = "The operator lacks a right: " + c.message
	case workload.FailureRefused:
		c.reason, c.stalled = appstatus.ReasonRefused, true
	case workload.FailureQuota:
		c.reason, c.stalled = appstatus.ReasonQuotaExceeded, true
	case workload.FailureNamespaceTerminating:
		c.reason, c.reconciling = appstatus.ReasonTerminating, true
	case workload.FailureTransient:
		c.reason, c.reconciling = appstatus.ReasonApplyFailed, true
	}
	return c
}

func terminating(f facts) *cause {
	if len(f.applied.Terminating) == 0 {
		return nil
	}
	return &cause{
		reason:  appstatus.ReasonTerminating,
		message: fmt.Sprintf("Waits until the %s of the same name, which is being deleted, is gone.", f.applied.Terminating[0]),
		phase:   appstatus.PhaseUpdating, reconciling: true,
	}
}

// replicaFailure passes on why the ReplicaSet cannot create pods: the Deployment
// carries its words.
func replicaFailure(f facts) *cause {
	condition := f.deploymentCondition(appsv1.DeploymentReplicaFailure)
	if condition == nil || condition.Status != corev1.ConditionTrue || f.rolledOut() {
		return nil
	}
	c := &cause{reason: appstatus.ReasonPodRefused, message: "Pods cannot be created: " + condition.Message, phase: appstatus.PhaseDegraded}
	if strings.Contains(condition.Message, "exceeded quota") || strings.Contains(condition.Message, "failed quota") {
		c.reason = appstatus.ReasonQuotaExceeded
	}
	return c
}

func podFailure(f facts) *cause {
	if len(f.pods) == 0 {
		return nil
	}
	problem := firstPodProblem(f.pods, mainContainer(f.deployment))
	if problem == nil {
		return nil
	}
	return &cause{reason: problem.reason, message: problem.message, phase: appstatus.PhaseDegraded}
}

func deploymentPaused(f facts) *cause {
	if f.deployment == nil || !f.deployment.Spec.Paused || f.rolledOut() {
		return nil
	}
	return &cause{
		reason:  appstatus.ReasonDeploymentPaused,
		message: fmt.Sprintf("Somebody paused the Deployment; kubectl rollout resume deployment/%s goes on.", f.workload.Owner.Name),
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
		message: "The rollout stands still: " + condition.Message,
		phase:   appstatus.PhaseDegraded,
		stalled: true,
	}
}

func rollingOut(f facts) *cause {
	if f.rolloutIsOver() {
		return nil
	}
	message := fmt.Sprintf("%d of %s run the specification and serve.", f.servingReplicas(), countPods(f.workload.Replicas))
	if f.deployment != nil && max(f.deployment.Generation, f.applied.Generation) > 1 && !f.deploymentIsCurrent() {
		message = "The change has yet to be taken up by the Deployment."
	} else if f.deployment != nil && f.deployment.Status.Replicas > f.workload.Replicas {
		message += fmt.Sprintf(" Pods that have yet to end: %d.", f.deployment.Status.Replicas-f.workload.Replicas)
	}
	return &cause{reason: appstatus.ReasonRollingOut, message: message, phase: appstatus.PhaseUpdating}
}

// servingReplicas is how many pods of the present specification serve at the least: the
// Deployment does not tell how many of the available pods are of an earlier one.
func (f facts) servingReplicas() int32 {
	if f.deployment == nil || !f.deploymentIsCurrent() {
		return 0
	}
	s := f.deployment.Status
	return max(0, min(s.UpdatedReplicas, s.AvailableReplicas-(s.Replicas-s.UpdatedReplicas), f.workload.Replicas))
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
	if !f.seesPods {
		ready = f.deployment.Status.ReadyReplicas
	}
	return &cause{
		reason:  appstatus.ReasonPodsNotReady,
		message: fmt.Sprintf("%d of %s are ready.", ready, countPods(want)),
		phase:   appstatus.PhaseDegraded,
	}
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

// maxListed bounds the fields that a message names.
const maxListed = 5

func bounded(fields []string) string {
	if len(fields) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(fields[:maxListed], ", "), len(fields)-maxListed)
	}
	return strings.Join(fields, ", ")
}
