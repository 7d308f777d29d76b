// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
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
		"it has a pod more":                  {but("replicas: 2, template", "replicas: 3, template"), lately, 0, false},
		"it is somebody else's":              {but("the-uid-of-EGApp-app", "another"), lately, 0, false},
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
			if err := (witness{history: events, blind: test.blind}).served(all[0]); (err == nil) != test.isTrue {
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
		"a foreign rollout":      {app + isRollingOut, strings.Replace(notServing, "the-uid-of-EGApp-app", "another", 1), time.Second, false},
		"a former one's is left": {app + isTerminating, strings.Replace(serving("app:2"), "the-uid-of-EGApp-app", "former", 1), time.Second, true},
		"another kind's is left": {app + isTerminating, strings.Replace(serving("app:2"), "kind: EGApp, name: app, uid: the-uid-of-EGApp-app", "kind: Other, name: app, uid: another", 1), time.Second, false},
		"the application goes":   {app + isTerminating, strings.Replace(app, "name: app,", "name: app, deletionTimestamp: '2026-01-01T00:00:00Z',", 1) + isReady, time.Second, false},
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

// TestServedAfterDeletion tells that a Deployment that is gone does not serve.
func TestServedAfterDeletion(t *testing.T) {
	e := added(t, serving("app:2"))
	e.Type = watch.Deleted
	if err := (witness{history: []Event{e}}).served(statuses(EGApp, []Event{added(t, app+isReady)})[0]); err == nil {
		t.Error("it serves")
	}
}

// TestIsAsked tells that the pod template counts as a whole where the reference has one of the same specification, and that an
// autoscaler chooses the number of pods.
func TestIsAsked(t *testing.T) {
	application := objectOf(t, app+isReady)
	application.SetNamespace("team-1")
	reference := func(image string) *Reference {
		return &Reference{States: []State{stateOf(t, app+isReady, serving(image))}}
	}
	autoscaler := added(t, autoscaling)
	for name, test := range map[string]struct {
		reference  *Reference
		deployment string
		history    []Event
		want       bool
	}{
		"the same":                  {reference("app:2"), serving("app:2"), nil, true},
		"another template":          {reference("app:2"), strings.Replace(serving("app:2"), "image: 'app:2'", "image: 'app:2', tty: true", 1), nil, false},
		"what others have changed":  {reference("app:1"), serving("app:1"), nil, true},
		"the image alone":           {&Reference{}, strings.Replace(serving("app:2"), "image: 'app:2'", "image: 'app:2', tty: true", 1), nil, true},
		"another image":             {&Reference{}, serving("app:1"), nil, false},
		"another number":            {reference("app:2"), strings.Replace(serving("app:2"), "replicas: 2", "replicas: 3", 1), nil, false},
		"an autoscaler's number":    {reference("app:2"), strings.Replace(serving("app:2"), "replicas: 2", "replicas: 3", 1), []Event{autoscaler}, true},
		"a reference with rollouts": {&Reference{States: []State{{"EGApp app": "{,}"}}}, serving("app:2"), nil, true},
	} {
		w := witness{history: test.history, templates: test.reference.templates(EGApp)}
		if err := w.isAsked(objectOf(t, test.deployment), application); (err == nil) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAvailable tells that Available has to be backed by a pod, unless none is asked for.
func TestAvailable(t *testing.T) {
	const isAvailable = "\n  - {type: Available, status: 'True', reason: MinimumAvailable, observedGeneration: 2}"
	for name, test := range map[string]struct {
		part, other string
		want        bool
	}{
		"all are":     {"", "", true},
		"one is":      {"availableReplicas: 2", "availableReplicas: 1", true},
		"none is":     {"availableReplicas: 2", "availableReplicas: 0", false},
		"none has to": {"spec: {replicas: 2", "spec: {replicas: 0", true},
		"another's":   {"the-uid-of-EGApp-app", "another", false},
	} {
		o := outcomeOf(t, strings.Replace(serving("app:2"), test.part, test.other, 1), app+isRollingOut+isAvailable)
		found := untruths(Plan{Scenario: Scenario{Kind: EGApp}}, &Reference{Reasons: map[string]bool{"False RollingOut": true}}, o, Effect{})
		if (len(found) == 0) != test.want {
			t.Errorf("%s: %q", name, found)
		}
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
