// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

func readyStatus(status metav1.ConditionStatus, reason, message string) appstatus.Status {
	return appstatus.Status{Conditions: []metav1.Condition{{Type: appstatus.ConditionReady, Status: status, Reason: reason, Message: message}}}
}

// recorded returns what do records.
func recorded(do func(events.EventRecorder)) []string {
	recorder := events.NewFakeRecorder(10)
	do(recorder)
	close(recorder.Events)
	var all []string
	for event := range recorder.Events {
		all = append(all, event)
	}
	return all
}

func TestAnEventTellsEachTransitionOfReady(t *testing.T) {
	serves := readyStatus(metav1.ConditionTrue, appstatus.ReasonReady, "All 3 pods serve.")
	for name, test := range map[string]struct {
		before, after appstatus.Status
		want          []string
	}{
		"the first status":            {appstatus.Status{}, readyStatus(metav1.ConditionFalse, appstatus.ReasonRollingOut, "m"), []string{"Normal RollingOut m"}},
		"ready":                       {readyStatus(metav1.ConditionFalse, appstatus.ReasonRollingOut, "m"), serves, []string{"Normal Ready All 3 pods serve."}},
		"at rest":                     {serves, serves, nil},
		"another message":             {serves, readyStatus(metav1.ConditionTrue, appstatus.ReasonReady, "All 4 pods serve."), nil},
		"stopped":                     {serves, readyStatus(metav1.ConditionTrue, appstatus.ReasonStopped, "m"), []string{"Normal Stopped m"}},
		"paused":                      {serves, readyStatus(metav1.ConditionTrue, appstatus.ReasonPaused, "m"), []string{"Normal Paused m"}},
		"a predecessor ends":          {appstatus.Status{}, readyStatus(metav1.ConditionFalse, appstatus.ReasonTerminating, "m"), []string{"Normal Terminating m"}},
		"a gateway is waited for":     {serves, readyStatus(metav1.ConditionFalse, appstatus.ReasonExposePending, "m"), []string{"Normal ExposePending m"}},
		"a crash":                     {serves, readyStatus(metav1.ConditionFalse, appstatus.ReasonCrashLoop, "exit code 3 %s"), []string{"Warning CrashLoop exit code 3 %s"}},
		"another cause":               {readyStatus(metav1.ConditionFalse, appstatus.ReasonCrashLoop, "m"), readyStatus(metav1.ConditionFalse, appstatus.ReasonUnschedulable, "n"), []string{"Warning Unschedulable n"}},
		"paused before the first pod": {appstatus.Status{}, readyStatus(metav1.ConditionFalse, appstatus.ReasonPaused, "m"), []string{"Normal Paused m"}},
		"no conditions":               {serves, appstatus.Status{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := recorded(func(r events.EventRecorder) { recordTransition(r, &v1alpha1.EGApp{}, test.before, test.after) })
			if !slices.Equal(got, test.want) {
				t.Errorf("the events are %q, want %q", got, test.want)
			}
		})
	}
}

func TestAnEventTellsWhatWasRepaired(t *testing.T) {
	app := &v1alpha1.EGApp{ObjectMeta: metav1.ObjectMeta{Name: "orders"}}
	for _, test := range []struct {
		kinds []string
		want  []string
	}{
		{nil, nil},
		{[]string{"Service"}, []string{"Normal DriftRepaired Somebody had changed or deleted the Service of orders. It is as it should be again."}},
		{[]string{"Deployment", "Service"}, []string{"Normal DriftRepaired Somebody had changed or deleted the Deployment and Service of orders. They are as they should be again."}},
		{[]string{"Deployment", "Service", "Ingress"}, []string{"Normal DriftRepaired Somebody had changed or deleted the Deployment, Service and Ingress of orders. They are as they should be again."}},
	} {
		if got := recorded(func(r events.EventRecorder) { recordRepair(r, app, test.kinds) }); !slices.Equal(got, test.want) {
			t.Errorf("for %v the events are %q, want %q", test.kinds, got, test.want)
		}
	}
}

// The server takes no longer note, and half a character would be another one.
func TestALongNoteEndsWithAWholeCharacter(t *testing.T) {
	for offset := range 3 {
		message := strings.Repeat("x", offset) + strings.Repeat("€", 1000)
		got := recorded(func(r events.EventRecorder) {
			recordTransition(r, &v1alpha1.EGApp{}, appstatus.Status{}, readyStatus(metav1.ConditionFalse, appstatus.ReasonCrashLoop, message))
		})
		note := strings.TrimPrefix(got[0], "Warning CrashLoop ")
		if len(note) > maxNote || len(note) < maxNote-3 || !utf8.ValidString(note) {
			t.Errorf("the note has %d bytes and is UTF-8: %t", len(note), utf8.ValidString(note))
		}
	}
}
