// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"platformapp/api/appstatus"
)

// maxNote is the longest note that an event takes.
const maxNote = 1024

// What the operator was doing when an event came up.
const (
	actionReconcile = "Reconcile"
	actionRepair    = "Repair"
)

// recordTransition tells that an application became ready, or why it is not, once for
// each change of the reason: an application at rest has no events.
func recordTransition(recorder events.EventRecorder, app application, before, after appstatus.Status) {
	last := meta.FindStatusCondition(before.Conditions, appstatus.ConditionReady)
	ready := meta.FindStatusCondition(after.Conditions, appstatus.ConditionReady)
	if ready == nil || (last != nil && last.Reason == ready.Reason && last.Status == ready.Status) {
		return
	}
	switch ready.Reason {
	case appstatus.ReasonReady, appstatus.ReasonStopped, appstatus.ReasonPaused,
		appstatus.ReasonRollingOut, appstatus.ReasonTerminating, appstatus.ReasonExposePending:
		recordProgress(recorder, app, ready)
	default:
		recordProblem(recorder, app, ready)
	}
}

// recordProgress tells that an application is as it was asked for, or on its way there.
func recordProgress(recorder events.EventRecorder, app application, ready *metav1.Condition) {
	record(recorder, app, corev1.EventTypeNormal, ready.Reason, actionReconcile, ready.Message)
}

// recordProblem tells why an application is not as it was asked for.
func recordProblem(recorder events.EventRecorder, app application, ready *metav1.Condition) {
	record(recorder, app, corev1.EventTypeWarning, ready.Reason, actionReconcile, ready.Message)
}

// recordRepair tells that children, by kind, that somebody had changed or deleted are as
// they should be again.
func recordRepair(recorder events.EventRecorder, app application, kinds []string) {
	if len(kinds) == 0 {
		return
	}
	last := len(kinds) - 1
	names, state := kinds[last], "It is as it should be again."
	if last > 0 {
		names, state = strings.Join(kinds[:last], ", ")+" and "+names, "They are as they should be again."
	}
	note := fmt.Sprintf("Somebody had changed or deleted the %s of %s. %s", names, app.GetName(), state)
	record(recorder, app, corev1.EventTypeNormal, appstatus.ReasonDriftRepaired, actionRepair, note)
}

func record(recorder events.EventRecorder, app application, eventType, reason, action, note string) {
	if len(note) > maxNote {
		// A cut may fall into the middle of a character.
		note = strings.ToValidUTF8(note[:maxNote], "")
	}
	recorder.Eventf(app, nil, eventType, reason, action, "%s", note)
}
