// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package status computes what an application reports. It is pure: the same workload,
// observation and outcome give the same status.
package status

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// Compute returns the status of the application. The previous status serves for the
// image alone, which stays that of the last completed rollout. The conditions carry no
// transition times: they are the caller's to keep.
func Compute(w workload.Workload, o workload.Observed, a workload.Applied, invalid error, previous appstatus.Status) appstatus.Status {
	f := newFacts(w, o, a, invalid)
	cause := f.firstCause()
	s := appstatus.Status{
		ObservedGeneration: w.Owner.Generation,
		Phase:              f.phase(cause),
		Conditions:         f.conditions(cause),
		Selector:           labels.SelectorFromSet(w.Owner.Selector()).String(),
		Image:              previous.Image,
	}
	if f.deployment != nil {
		s.Replicas = f.deployment.Status.Replicas
		s.ReadyReplicas = f.deployment.Status.ReadyReplicas
		if f.deploymentIsCurrent() {
			s.UpdatedReplicas = f.deployment.Status.UpdatedReplicas
		}
		s.AvailableReplicas = f.deployment.Status.AvailableReplicas
		s.Pods, s.PodStatuses = listPods(o.Pods)
	}
	if f.rolledOut() {
		s.Image = mainImage(f.deployment)
	}
	return s
}

// mainContainer returns the name of the application's container: others may have put
// theirs before it.
func mainContainer(deployment *appsv1.Deployment) string {
	return deployment.Spec.Template.Annotations[workload.AnnotationDefaultContainer]
}

func mainImage(deployment *appsv1.Deployment) string {
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == mainContainer(deployment) {
			return container.Image
		}
	}
	return ""
}

// facts are what the causes are found in.
type facts struct {
	workload workload.Workload
	applied  workload.Applied
	invalid  error
	// deployment is the owner's, or nil.
	deployment *appsv1.Deployment
	// pods are those of the present pod template that are neither ended nor ending.
	pods []corev1.Pod
	// seesPods tells whether pods of the present pod template were seen at all.
	seesPods bool
}

func newFacts(w workload.Workload, o workload.Observed, a workload.Applied, invalid error) facts {
	f := facts{workload: w, applied: a, invalid: invalid}
	deployment := o.Deployment()
	if deployment == nil || w.Owner.OwnershipOf(deployment) != workload.Ours {
		return f
	}
	f.deployment = deployment
	if !f.deploymentIsCurrent() || (deployment.Status.UpdatedReplicas == 0 && f.replicas() > 0) {
		// What looks like the newest ReplicaSet is that of the template before.
		return f
	}
	for _, pod := range o.CurrentPods() {
		f.seesPods = true
		if isActive(pod) {
			f.pods = append(f.pods, pod)
		}
	}
	return f
}

// rolledOut tells whether the Deployment has carried out the present specification:
// all its pods are of the present template and available. An invalid specification was
// not applied: then what was applied before it counts.
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
	observed := f.deployment.Status.ObservedGeneration
	return observed >= f.deployment.Generation && observed >= f.applied.Generation
}

// replicas is the number of pods that the Deployment was told to run.
func (f facts) replicas() int32 {
	if f.deployment != nil && f.deployment.Spec.Replicas != nil {
		return *f.deployment.Spec.Replicas
	}
	return f.workload.Replicas
}

// stopped tells whether no pods are asked for.
func (f facts) stopped() bool { return f.invalid == nil && f.workload.Replicas == 0 }

func (f facts) phase(c *cause) appstatus.Phase {
	switch {
	case c != nil:
		return c.phase
	case f.stopped():
		return appstatus.PhaseStopped
	default:
		return appstatus.PhaseRunning
	}
}

func (f facts) conditions(c *cause) []metav1.Condition {
	ready := newCondition(appstatus.ConditionReady, true, appstatus.ReasonReady, f.readyMessage())
	reconciling := newCondition(appstatus.ConditionReconciling, false, appstatus.ReasonAtRest, "No change is under way.")
	stalled := newCondition(appstatus.ConditionStalled, false, appstatus.ReasonNotStalled, "The operator goes on by itself.")
	if c == nil && f.stopped() {
		ready.Reason = appstatus.ReasonStopped
	}
	if c != nil {
		ready = newCondition(appstatus.ConditionReady, false, c.reason, c.message)
		if c.stalled {
			stalled = newCondition(appstatus.ConditionStalled, true, c.reason, c.message)
		} else if c.reconciling || !f.rolloutIsOver() {
			reconciling = newCondition(appstatus.ConditionReconciling, true, c.reason, c.message)
		}
	}
	conditions := []metav1.Condition{ready, f.available(), reconciling, stalled}
	for i := range conditions {
		conditions[i].ObservedGeneration = f.workload.Owner.Generation
	}
	return conditions
}

func (f facts) readyMessage() string {
	message := fmt.Sprintf("All %s serve.", countPods(f.replicas()))
	switch {
	case f.stopped():
		message = "Stopped: no pod is asked for."
	case f.replicas() == 1:
		message = "The pod serves."
	}
	if len(f.applied.Modified) > 0 {
		message += " Admission changed " + bounded(f.applied.Modified) + "."
	}
	return message
}

// available mirrors the Deployment's own judgement of how many pods it takes.
func (f facts) available() metav1.Condition {
	if f.deployment != nil {
		for _, c := range f.deployment.Status.Conditions {
			if c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue {
				return newCondition(appstatus.ConditionAvailable, true, appstatus.ReasonMinimumAvailable, "Enough pods serve.")
			}
		}
	}
	return newCondition(appstatus.ConditionAvailable, false, appstatus.ReasonMinimumUnavailable, "Too few pods serve.")
}

// maxMessage is the longest message that a condition takes.
const maxMessage = 32768

func newCondition(conditionType string, isTrue bool, reason, message string) metav1.Condition {
	status := metav1.ConditionFalse
	if isTrue {
		status = metav1.ConditionTrue
	}
	if len(message) > maxMessage {
		// A cut may fall into the middle of a character.
		message = strings.ToValidUTF8(message[:maxMessage], "")
	}
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message}
}

func countPods(n int32) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}
