// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"platformapp/test/fault/proxy"
)

// app is an EGApp at generation 2 in YAML, whose conditions are still to come.
const app = `
apiVersion: egplatform.platform.evillgenius.com/v1alpha1
kind: EGApp
metadata: {name: app, generation: 2, resourceVersion: '7'}
spec: {image: 'app:2', replicaCount: 2}
status:
  observedGeneration: 2
  conditions:
`

// conditions of generation 2 and of a generation that is yet to come.
const (
	isReady       = "  - {type: Ready, status: 'True', reason: Ready, observedGeneration: 2}"
	isRollingOut  = "  - {type: Ready, status: 'False', reason: RollingOut, observedGeneration: 2}"
	isTerminating = "  - {type: Ready, status: 'False', reason: Terminating, observedGeneration: 2}"
	isForbidden   = "  - {type: Ready, status: 'False', reason: Forbidden, observedGeneration: 2}"
	isOfTomorrow  = "  - {type: Ready, status: 'True', reason: Ready, observedGeneration: 3}"
)

// serving is the Deployment of app, with all pods of this image available.
func serving(image string) string {
	return deployment + `  generation: 3
  ownerReferences: [{apiVersion: x/v1, kind: EGApp, name: app, uid: the-uid-of-EGApp-app, controller: true}]
spec: {replicas: 2, template: {spec: {containers: [{name: app, image: '` + image + `'}]}}}
status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}`
}

// outcomeOf returns an outcome with these objects made, or changed when the one before is of the same kind, and nothing
// wrong with it.
func outcomeOf(t *testing.T, objects ...string) *Outcome {
	t.Helper()
	o := &Outcome{
		Goroutines: 100, Reconciles: 1, Log: `{"level":"info","msg":"starting"}` + "\n",
		Requests: []proxy.Request{{Verb: "apply", Resource: "services"}, {Verb: "list", Resource: "pods"}},
	}
	for i, text := range objects {
		e := added(t, text)
		if i > 0 && o.Events[i-1].Kind == e.Kind {
			e.Type = watch.Modified
		}
		o.Events = append(o.Events, e)
	}
	return o
}

// TestJudge tells what is a violation: each row makes one thing wrong in an outcome that is right without it.
func TestJudge(t *testing.T) {
	right := func(t *testing.T) *Outcome { return outcomeOf(t, serving("app:2"), app+isRollingOut, app+isReady) }
	scenario := Scenario{Kind: EGApp, Name: "create", Steps: []Step{{}}}
	reference, err := NewReference(scenario, []*Outcome{right(t), right(t)})
	if err != nil {
		t.Fatal(err)
	}
	type spoil = func(*Outcome)
	logs := func(text string) spoil { return func(o *Outcome) { o.Log += text + "\n" } }
	asks := func(n int, verb, resource, subresource string) spoil {
		q := proxy.Request{Verb: verb, Resource: resource, Subresource: subresource}
		return func(o *Outcome) { o.Requests = append(o.Requests, slices.Repeat([]proxy.Request{q}, n)...) }
	}
	happens := func(e Event) spoil { return func(o *Outcome) { o.Events = append(o.Events, e) } }
	tells := func(text string) spoil { return happens(added(t, text).changedTo(watch.Modified, "8")) }
	refused := func(o *Outcome) {
		o.Requests = append(o.Requests, proxy.Request{Verb: "delete", Resource: "services", Fault: "403", Code: 403, At: time.Now()})
	}
	refusal := Effect{
		Struck: []string{"delete services"}, Writes: 1, Must: "Forbidden", Reasons: []string{"Forbidden"},
	}
	another := strings.Replace(app, "name: app", "name: app, uid: another", 1)
	served := added(t, serving("app:2"))
	theirs := added(t, strings.Replace(service, "name: app", "name: "+orders, 1)+"{}")
	tests := map[string]struct {
		spoil  spoil
		effect Effect
		want   string // part of the one violation; empty for none
	}{
		"nothing":                          {func(*Outcome) {}, Effect{}, ""},
		"a step that fails":                {func(o *Outcome) { o.Failures = []string{"step 1 fails"} }, Effect{}, "step 1 fails"},
		"a child made twice":               {happens(served), Effect{}, "created and deleted otherwise"},
		"a child made twice, by the fault": {happens(theirs), Effect{Replaced: []string{"Service"}}, ""},
		"another child made twice":         {happens(served), Effect{Replaced: []string{"Service"}}, "created and deleted otherwise"},
		"another name made twice": {
			happens(added(t, strings.Replace(service, "name: app", "name: other", 1)+"{}")),
			Effect{Replaced: []string{"Service"}}, "created and deleted otherwise",
		},
		"a child deleted": {
			happens(served.changedTo(watch.Deleted, "9")), Effect{}, "created and deleted otherwise",
		},
		"a panic":            {func(o *Outcome) { o.Panics = 1 }, Effect{}, "1 panics"},
		"a panic in the log": {logs("panic: oops"), Effect{Logs: []string{"oops"}}, "the operator logs panic"},
		"a data race":        {logs("WARNING: DATA RACE"), Effect{}, "the operator logs WARNING"},
		"an error in the log": {
			logs(`{"level":"error","msg":"oops"}`), Effect{Logs: []string{"injected"}}, "the operator logs",
		},
		"the fault's error":     {logs(`{"level":"error","msg":"injected"}`), Effect{Logs: []string{"injected"}}, ""},
		"news in the log":       {logs(`{"level":"info","msg":"oops"}`), Effect{}, ""},
		"a leak":                {func(o *Outcome) { o.Goroutines += leak + 1 }, Effect{}, "goroutines"},
		"some connections more": {func(o *Outcome) { o.Goroutines += leak }, Effect{}, ""},
		"a loop at rest": {
			func(o *Outcome) { o.Reconciles += restingTurns + 1 }, Effect{}, "turns of the loop at rest",
		},
		"an end":                      {func(o *Outcome) { o.Ends = 1 }, Effect{}, "ended by itself"},
		"an end that the fault makes": {func(o *Outcome) { o.Ends = 1 }, Effect{Ends: 1}, ""},
		"a write more":                {asks(1, "apply", "services", ""), Effect{}, "2 requests apply services, at most 1"},
		"a write more, by the fault":  {asks(1, "apply", "services", ""), Effect{Struck: []string{"apply services"}, Writes: 1}, ""},
		"two writes more, by the fault": {
			asks(2, "apply", "services", ""), Effect{Struck: []string{"apply services"}, Writes: 1}, "3 requests apply services, at most 2",
		},
		"a write more of another key": {
			asks(1, "apply", "services", ""), Effect{Struck: []string{"apply deployments.apps"}, Writes: 1}, "2 requests apply services, at most 1",
		},
		"a write more of any key": {asks(1, "apply", "services", ""), Effect{Others: 1}, ""},
		"a write that met another's": {func(o *Outcome) {
			o.Requests = append(o.Requests, proxy.Request{Verb: "apply", Resource: "services", Code: 409})
		}, Effect{}, ""},
		"a write that met the fault": {func(o *Outcome) {
			o.Requests = append(o.Requests, proxy.Request{Verb: "apply", Resource: "services", Code: 409, Fault: "409"})
		}, Effect{}, "2 requests apply services, at most 1"},
		"a write that meets others for ever": {func(o *Outcome) {
			conflict := proxy.Request{Verb: "apply", Resource: "services", Code: 409}
			o.Requests = append(o.Requests, slices.Repeat([]proxy.Request{conflict}, mostConflicts+1)...)
		}, Effect{}, "4 requests apply services, at most 3"},
		"a write of a new key": {asks(1, "delete", "services", ""), Effect{}, "1 requests delete services, at most 0"},
		"status writes at once": {
			asks(statusSpare+1, "patch", "egapps", "status"), Effect{}, fmt.Sprintf("%d requests patch egapps/status, at most %d", statusSpare+1, statusSpare),
		},
		"status writes over some time": {func(o *Outcome) {
			asks(statusSpare+1, "patch", "egapps", "status")(o)
			o.Elapsed = time.Second
		}, Effect{}, ""},
		"what is to be told": {func(o *Outcome) {
			refused(o)
			tells(app + isForbidden)(o)
		}, refusal, ""},
		"what an obstacle hides": {func(o *Outcome) {
			refused(o)
			tells(app + isTerminating)(o)
		}, Effect{Struck: refusal.Struck, Writes: 1, Must: "Forbidden", Reasons: []string{"Forbidden", "Terminating"}}, ""},
		"what is told already": {func(o *Outcome) {
			tells(app + isForbidden)(o)
			refused(o)
		}, refusal, ""},
		"what is told too late": {func(o *Outcome) {
			refused(o)
			late := added(t, app+isForbidden).changedTo(watch.Modified, "8")
			late.At = late.At.Add(toldWithin + time.Minute)
			happens(late)(o)
		}, refusal, "has not the reason Forbidden"},
		"what is never told": {refused, refusal, "has not the reason Forbidden"},
		"what a change ends": {func(o *Outcome) {
			refused(o)
			tells(strings.Replace(app, "generation: 2", "generation: 3", 1) + isReady)(o)
		}, refusal, ""},
		"what a deletion ends": {func(o *Outcome) {
			refused(o)
			tells(strings.Replace(app, "name: app", "name: app, deletionTimestamp: '2026-01-01T00:00:00Z'", 1) + isReady)(o)
		}, refusal, ""},
		"a hot loop of reads": {asks(500, "get", "services", ""), Effect{}, "requests, in the reference"},
		"watches that are cut": {func(o *Outcome) {
			asks(400, "watch", "services", "")(o)
			o.Elapsed = 20 * time.Second
		}, Effect{Requests: 17}, ""},
		"a reason of its own": {tells(another + isForbidden), Effect{}, "Ready is False Forbidden"},
		"the fault's reason":  {tells(app + isForbidden), Effect{Reasons: []string{"Forbidden"}}, ""},
		"Ready without pods that serve": {func(o *Outcome) {
			o.Events = outcomeOf(t, strings.Replace(serving("app:2"), "availableReplicas: 2", "availableReplicas: 1", 1), app+isReady).Events
		}, Effect{}, "no Deployment served"},
		"Ready by what served before": {func(o *Outcome) {
			o.Earlier = o.Events
			o.Events = append(outcomeOf(t, strings.Replace(serving("app:2"), "availableReplicas: 2", "availableReplicas: 1", 1)).Events, o.Events[1:]...)
		}, Effect{}, ""},
		"a change of what is Ready": {func(o *Outcome) {
			o.Earlier = o.Events
			changed := strings.NewReplacer("generation: 2, ", "generation: 3, ", "app:2", "app:3")
			o.Events = []Event{o.Events[0], added(t, changed.Replace(app)+isReady)}
		}, Effect{}, ""},
		"a generation to come": {tells(app + isOfTomorrow), Effect{}, "a generation that is yet to come"},
		"Ready falls": {func(o *Outcome) {
			tells(app + isRollingOut)(o)
			tells(app + isReady)(o)
			tells(app + isRollingOut)(o)
		}, Effect{}, "Ready fell 2 times"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := right(t)
			test.spoil(o)
			p := planNamed(EGApp, "create", "409", "409/x")
			p.Scenario, p.Faults[0].Effect = scenario, test.effect
			violations := Judge(p, reference, o)
			isWanted := len(violations) == 1 && test.want != "" && strings.Contains(violations[0], test.want)
			if !isWanted && (test.want != "" || len(violations) > 0) {
				t.Errorf("the violations are %q, want %q", violations, test.want)
			}
		})
	}
}

// TestSum tells that faults add up, and that of two errors in a row one may show.
func TestSum(t *testing.T) {
	one := Fault{Effect: Effect{
		Logs: []string{"a"}, Reasons: []string{"A"}, Struck: []string{"x"}, Writes: 1, Others: 1, Ends: 1, Delay: time.Second, Blind: time.Minute,
	}}
	two := Fault{Effect: Effect{Logs: []string{"b"}, Struck: []string{"y"}, Writes: 2, Others: 1, Delay: time.Second, Replaced: []string{"Service"}}}
	got := sum([]Fault{one, two})
	want := Effect{
		Logs: []string{"a", "b"}, Reasons: []string{"A", "ApplyFailed"}, Struck: []string{"x", "y"}, Writes: 3, Others: 2, Ends: 1, Replaced: []string{"Service"},
		Delay: 2 * time.Second, Blind: time.Minute,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the sum is %+v, want %+v", got, want)
	}
	if got := sum([]Fault{one}); !slices.Equal(got.Reasons, []string{"A"}) || len(got.Replaced) > 0 {
		t.Errorf("one fault alone leads to %+v", got)
	}
}

// TestNewReference tells that runs which differ make no reference, and what the runs have in common.
func TestNewReference(t *testing.T) {
	run := func(spoil func(*Outcome)) *Outcome {
		o := outcomeOf(t, serving("app:2"), app+isReady)
		o.States = []State{{"Service app": "{}"}}
		spoil(o)
		return o
	}
	same := func(*Outcome) {}
	for name, spoil := range map[string]func(*Outcome){
		"it fails":               func(o *Outcome) { o.Failures = []string{"no"} },
		"it logs errors":         func(o *Outcome) { o.Log = `{"level":"error"}` },
		"it ends otherwise":      func(o *Outcome) { o.States = []State{{"Service app": `{"a":1}`}} },
		"it panics":              func(o *Outcome) { o.Panics = 1 },
		"it is not asked":        func(o *Outcome) { o.Panics = -1 },
		"it ends by itself":      func(o *Outcome) { o.Ends = 1 },
		"it does not rest":       func(o *Outcome) { o.Reconciles = restingTurns + 1 },
		"it leaks":               func(o *Outcome) { o.Goroutines = mostGoroutines + 1 },
		"it tells untruths":      func(o *Outcome) { o.Events = o.Events[1:] },
		"it makes a child twice": func(o *Outcome) { o.Events = append(o.Events, added(t, serving("app:2"))) },
	} {
		if _, err := NewReference(Scenario{Kind: EGApp}, []*Outcome{run(same), run(spoil)}); err == nil {
			t.Errorf("%s, and that is a reference", name)
		}
	}
	rechecks := run(func(o *Outcome) { o.Reconciles = restingTurns + recheckTurns })
	if _, err := NewReference(Scenario{Kind: EGApp, Rechecks: true}, []*Outcome{rechecks}); err != nil {
		t.Error(err)
	}
	r, err := NewReference(Scenario{Kind: EGApp}, []*Outcome{run(same), run(func(o *Outcome) {
		apply, get := proxy.Request{Verb: "apply", Resource: "services"}, proxy.Request{Verb: "get", Resource: "pods"}
		o.Requests = append(o.Requests, apply, get)
		o.Goroutines += 5
		o.Elapsed = time.Second
		o.Events = append(o.Events, added(t, app+isRollingOut))
		o.Events[len(o.Events)-1].Type = watch.Modified
	})})
	if err != nil {
		t.Fatal(err)
	}
	want := &Reference{
		States: []State{{"Service app": "{}"}}, Life: map[string]Life{"Deployment app": {Created: 1}, "EGApp app": {Created: 1}},
		Changed: map[string]bool{"Deployment": true, "EGApp": true},
		Writes:  map[string]int{"apply services": 1}, Reads: map[string]int{"list pods": 1},
		MostWrites: map[string]int{"apply services": 2}, MostRequests: 4, Elapsed: time.Second,
		Reasons: map[string]bool{"False RollingOut": true, "True Ready": true}, Falls: 1, Goroutines: 105, Resting: 1,
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("the reference is %+v, want %+v", r, want)
	}
}
