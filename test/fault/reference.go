// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"platformapp/test/fault/proxy"
)

// Reference is what a scenario does without any fault, by several runs.
type Reference struct {
	// States are those after each step.
	States []State
	// Life counts, for each object, how often it was created and deleted.
	Life map[string]Life
	// Changed are the kinds of which any object was changed.
	Changed map[string]bool
	// Writes are the kinds of requests to write, each with the number that every run had of it.
	Writes map[string]int
	// Reads are the same of the other requests.
	Reads map[string]int
	// MostWrites are the same as Writes, with the most that any run had, and MostRequests is the most requests.
	MostWrites   map[string]int
	MostRequests int
	// Elapsed is how long the steps took at most.
	Elapsed time.Duration
	// Reasons are those that Ready had in any run, each after its status: False RollingOut.
	Reasons map[string]bool
	// Falls is how often Ready went from True to False at most.
	Falls int
	// Goroutines is the most that the operator had at the end.
	Goroutines int
	// Resting is how many turns the loop made in the time of rest at most.
	Resting int
}

// Life is how often an object of a name was created and deleted.
type Life struct{ Created, Deleted int }

// NewReference returns what runs have in common. It fails when they do not end alike: then nothing can be told by them.
func NewReference(scenario Scenario, outcomes []*Outcome) (*Reference, error) {
	var r *Reference
	for _, o := range outcomes {
		if len(o.Failures) > 0 {
			return nil, fmt.Errorf("the reference fails: %v\n%s", o.Failures, tail(o.Log))
		}
		if complaints := complaints(o.Log, Effect{}); len(complaints) > 0 {
			return nil, fmt.Errorf("the operator logs errors in the reference: %s", complaints[0])
		}
		next := &Reference{
			States: o.States, Life: livesOf(scenario, o), Writes: count(o.Requests, proxy.Request.IsWrite),
			Reads:        count(o.Requests, func(q proxy.Request) bool { return !q.IsWrite() && !isEvent(q) }),
			MostWrites:   count(o.Requests, proxy.Request.IsWrite),
			MostRequests: len(o.Requests), Elapsed: o.Elapsed, Reasons: map[string]bool{}, Changed: map[string]bool{}, Goroutines: o.Goroutines, Resting: o.Reconciles,
		}
		for _, s := range statuses(scenario.Kind, o.Events) {
			next.Reasons[s.String()] = true
		}
		for _, s := range o.First {
			next.Reasons[s] = true
		}
		for _, e := range o.Events {
			next.Changed[e.Kind] = true
		}
		next.Falls = falls(statuses(scenario.Kind, o.Events))
		if flaws := flaws(scenario, next, o); len(flaws) > 0 {
			return nil, fmt.Errorf("the reference is wrong by itself: %s", strings.Join(flaws, "\n"))
		}
		if r == nil {
			r = next
			continue
		}
		if scenario.Races {
			for i := range next.States {
				r.States[i], next.States[i] = r.States[i].WithoutRollouts(), next.States[i].WithoutRollouts()
			}
		}
		if err := r.merge(next); err != nil {
			return nil, err
		}
	}
	return r, nil
}

const (
	// mostGoroutines is how many goroutines an operator may have at rest in any case.
	mostGoroutines = 400
	// recheckTurns is how many turns of the loop more there may be at rest where something is tried again from time to time:
	// each minute, and no rest is longer.
	recheckTurns = 1
)

// flaws returns what is wrong with a run without faults, whatever any other run does: the operator that makes the reference is
// under test too.
func flaws(s Scenario, r *Reference, o *Outcome) []string {
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if o.Panics != 0 {
		report("%d panics", o.Panics)
	}
	if o.Ends != 0 {
		report("the operator ended by itself, %d times", o.Ends)
	}
	most := restingTurns
	if s.Rechecks {
		most += recheckTurns
	}
	if o.Reconciles > most {
		report("%d turns of the loop at rest", o.Reconciles)
	}
	if o.Goroutines > mostGoroutines {
		report("%d goroutines", o.Goroutines)
	}
	return append(found, untruths(Plan{Scenario: s}, r, o, Effect{})...)
}

// merge adds another run.
func (r *Reference) merge(next *Reference) error {
	for i, state := range r.States {
		if diff := state.Diff(next.States[i]); diff != "" {
			return fmt.Errorf("two runs without a fault differ after step %d:\n%s", i+1, diff)
		}
	}
	if !maps.Equal(r.Life, next.Life) {
		return errors.Join(fmt.Errorf("two runs without a fault create and delete otherwise: %v and %v", r.Life, next.Life))
	}
	r.Writes, r.Reads = common(r.Writes, next.Writes), common(r.Reads, next.Reads)
	r.MostRequests, r.Elapsed = max(r.MostRequests, next.MostRequests), max(r.Elapsed, next.Elapsed)
	for key, n := range next.MostWrites {
		r.MostWrites[key] = max(r.MostWrites[key], n)
	}
	maps.Copy(r.Reasons, next.Reasons)
	maps.Copy(r.Changed, next.Changed)
	r.Falls, r.Goroutines, r.Resting = max(r.Falls, next.Falls), max(r.Goroutines, next.Goroutines), max(r.Resting, next.Resting)
	return nil
}

// common returns the least of each count.
func common(a, b map[string]int) map[string]int {
	least := map[string]int{}
	for key, n := range a {
		if n = min(n, b[key]); n > 0 {
			least[key] = n
		}
	}
	return least
}

// count counts the requests of each kind.
func count(requests []proxy.Request, isCounted func(proxy.Request) bool) map[string]int {
	n := map[string]int{}
	for _, q := range requests {
		if isCounted(q) {
			n[q.Key()]++
		}
	}
	return n
}

func isEvent(q proxy.Request) bool { return q.Resource == "events" }

// targets returns the requests that are counted, in a fixed order.
func targets(counts map[string]int) []target {
	var all []target
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		for ordinal := range counts[key] {
			all = append(all, target{key, ordinal + 1})
		}
	}
	return all
}

// livesOf counts how often the objects were created and deleted that tell something: where rollouts depend on the control
// plane's pace, pods do not.
func livesOf(s Scenario, o *Outcome) map[string]Life {
	counts := lives(o.Events, o.ReplicaSets)
	maps.DeleteFunc(counts, func(key string, _ Life) bool {
		return s.Races && (strings.HasPrefix(key, "Pod ") || strings.HasPrefix(key, "ReplicaSet "))
	})
	return counts
}

// lives counts how often each object was created and deleted. Pods, whose names the API server makes up, count together with
// those of their ReplicaSet.
func lives(events []Event, replicaSets map[string]string) map[string]Life {
	counts := map[string]Life{}
	for _, e := range events {
		key := e.Kind + " " + nameOf(e.Kind, e.Object, replicaSets)
		life := counts[key]
		switch e.Type {
		case watch.Added:
			life.Created++
		case watch.Deleted:
			life.Deleted++
		default:
			continue
		}
		counts[key] = life
	}
	return counts
}
