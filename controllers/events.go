// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"platformapp/api/appstatus"
)

// maxNote is the longest note that an event takes.
const maxNote = 1024

// actionReconcile is what the operator was doing when an event came up.
const actionReconcile = "Reconcile"

// recordTransition tells that an application became ready, or why it is not, once for
// each change of the reason: an application at rest has no events.
func recordTransition(recorder events.EventRecorder, app application, before, after appstatus.Status) {
	last := meta.FindStatusCondition(before.Conditions, appstatus.ConditionReady)
	ready := meta.FindStatusCondition(after.Conditions, appstatus.ConditionReady)
	if ready == nil || (last != nil && last.Reason == ready.Reason && last.Status == ready.Status) {
		return
	}
	eventType := corev1.EventTypeWarning
	if ready.Status == metav1.ConditionTrue || ready.Reason == appstatus.ReasonRollingOut {
		eventType = corev1.EventTypeNormal
	}
	note := ready.Message
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote], "")
	}
	recorder.Eventf(app, nil, eventType, ready.Reason, actionReconcile, "%s", note)
}
