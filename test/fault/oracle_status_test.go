// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"strings"
	"testing"
	"time"
)

// TestServed tells that Ready has to be backed by a Deployment that served lately.
func TestServed(t *testing.T) {
	lately, longAgo := time.Second, lag+time.Minute
	but := func(part, other string) []string { return []string{strings.Replace(serving("app:2"), part, other, 1)} }
	then := []string{serving("app:2"), serving("app:1")}
	tests := map[string]struct {
		deployments []string
		age         time.Duration // of each Deployment's version before the next event
		blind       time.Duration
		isTrue      bool
	}{
		"it serves":                          {[]string{serving("app:2")}, lately, 0, true},
		"there is none":                      {nil, lately, 0, false},
		"it serves another image":            {[]string{serving("app:1")}, lately, 0, false},
		"a pod is not available":             {but("availableReplicas: 2", "availableReplicas: 1"), lately, 0, false},
		"a pod is of the past":               {but("updatedReplicas: 2", "updatedReplicas: 1"), lately, 0, false},
		"its status is of the past":          {but("observedGeneration: 3", "observedGeneration: 2"), lately, 0, false},
		"it served a moment ago":             {then, lately, 0, true},
		"it served long ago":                 {then, longAgo, 0, false},
		"it served when the fault was blind": {then, longAgo, 3 * longAgo, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			var events []Event
			for i, text := range test.deployments {
				e := added(t, text)
				e.At = now.Add(-test.age * time.Duration(len(test.deployments)-i))
				events = append(events, e)
			}
			all := statuses(EGApp, []Event{added(t, app+isReady)})
			all[0].at = now
			if err := served(all[0], events, test.blind); (err == nil) != test.isTrue {
				t.Errorf("Ready is true: %v", err)
			}
		})
	}
}

// TestIsBacked tells that what others are said to do has to be backed by what they did lately.
func TestIsBacked(t *testing.T) {
	notServing := strings.Replace(serving("app:2"), "availableReplicas: 2", "availableReplicas: 1", 1)
	for name, test := range map[string]struct {
		app, deployment string
		age             time.Duration
		want            bool
	}{
		"a rollout":              {app + isRollingOut, notServing, time.Second, true},
		"pods serve":             {app + isRollingOut, serving("app:2"), time.Second, false},
		"a rollout long ago":     {app + isRollingOut, notServing, lag + time.Second, false},
		"another reason":         {app + isForbidden, notServing, time.Second, false},
		"another's rollout":      {app + isRollingOut, strings.Replace(notServing, "  name: app", "  name: other", 1), time.Second, false},
		"a Deployment goes":      {app + isTerminating, strings.Replace(serving("app:2"), "name: app", "name: app\n  deletionTimestamp: '2026-01-01T00:00:00Z'", 1), time.Second, true},
		"a Deployment stays":     {app + isTerminating, serving("app:2"), time.Second, false},
		"a rollout yet to begin": {app + isRollingOut, strings.Replace(notServing, "name: app", "name: app\n  resourceVersion: '99'", 1), time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := added(t, test.deployment)
			all := statuses(EGApp, []Event{added(t, test.app)})
			all[0].at = e.At.Add(test.age)
			if got := isBacked(all[0], []Event{e}); got != test.want {
				t.Errorf("it is %t, want %t", got, test.want)
			}
		})
	}
}

// TestFalls tells what is a fall of Ready.
func TestFalls(t *testing.T) {
	other := strings.Replace(app, "name: app", "name: app, uid: another", 1)
	for name, test := range map[string]struct {
		versions []string
		want     int
	}{
		"it stays":             {[]string{app + isReady, app + isReady}, 0},
		"it rises":             {[]string{app + isRollingOut, app + isReady}, 0},
		"it falls":             {[]string{app + isReady, app + isRollingOut}, 1},
		"it flaps":             {[]string{app + isReady, app + isRollingOut, app + isReady, app + isForbidden}, 2},
		"another has its name": {[]string{app + isReady, other + isRollingOut}, 0},
		"nothing is reported":  {[]string{app + isReady, egapp + "2}", app + isReady}, 0},
	} {
		var events []Event
		for _, text := range test.versions {
			events = append(events, added(t, text))
		}
		if got := falls(statuses(EGApp, events)); got != test.want {
			t.Errorf("%s: %d falls, want %d", name, got, test.want)
		}
	}
}
