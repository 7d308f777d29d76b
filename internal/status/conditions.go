// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
)

func (f facts) phase(c *cause) appstatus.Phase {
	switch {
	case f.paused():
		return appstatus.PhasePaused
	case c != nil:
		return c.phase
	case f.stopped():
		return appstatus.PhaseStopped
	default:
		return appstatus.PhaseRunning
	}
}

func (f facts) conditions(c *cause) []metav1.Condition {
	ready := newCondition(appstatus.ConditionReady, true, f.readyReason(), f.readyMessage())
	reconciling := newCondition(appstatus.ConditionReconciling, false, appstatus.ReasonAtRest, "No change is under way.")
	stalled := newCondition(appstatus.ConditionStalled, false, appstatus.ReasonNotStalled, "The operator goes on by itself.")
	if f.paused() {
		stalled.Message = "The operator goes on by itself once spec.paused is false."
	}
	if c != nil {
		ready = newCondition(appstatus.ConditionReady, false, c.reason, c.message)
		switch {
		case f.paused():
			// The operator neither changes anything nor waits for a person to mend something.
		case c.stalled:
			stalled = newCondition(appstatus.ConditionStalled, true, c.reason, c.message)
		case c.reconciling || !f.rolloutIsOver():
			reconciling = newCondition(appstatus.ConditionReconciling, true, c.reason, c.message)
		}
	}
	conditions := []metav1.Condition{ready, f.available(), reconciling, stalled}
	for i := range conditions {
		conditions[i].ObservedGeneration = f.workload.Owner.Generation
	}
	return conditions
}

func (f facts) readyReason() string {
	switch {
	case f.paused():
		return appstatus.ReasonPaused
	case f.stopped():
		return appstatus.ReasonStopped
	default:
		return appstatus.ReasonReady
	}
}

// readyMessage tells how many pods serve and what is worth knowing beside that.
func (f facts) readyMessage() string {
	var sentences []string
	if f.paused() {
		sentences = append(sentences, "Paused: what runs is left as it is while spec.paused is true.")
	}
	sentences = append(sentences, f.servingMessage())
	if len(f.applied.Modified) > 0 {
		sentences = append(sentences, "Admission changed "+bounded(f.applied.Modified)+".")
	}
	sentences = append(sentences, f.scrapingRemark()...)
	sentences = append(sentences, f.scalingRemark()...)
	return strings.Join(sentences, " ")
}

// servingMessage tells how many pods serve, when all that are asked for do.
func (f facts) servingMessage() string {
	switch n := f.replicas(); n {
	case 0:
		return f.stoppedMessage()
	case 1:
		return "The pod serves."
	default:
		return fmt.Sprintf("All %s serve.", countPods(n))
	}
}

// scrapingRemark tells that nobody scrapes the metrics that the workload offers.
func (f facts) scrapingRemark() []string {
	if f.workload.Monitoring == nil || f.observed.Platform.Kinds[kindServiceMonitor] {
		return nil
	}
	return []string{"No metrics are scraped: the cluster has no ServiceMonitor API."}
}

const kindServiceMonitor = "ServiceMonitor"

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
