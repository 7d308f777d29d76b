// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"platformapp/test/fault/proxy"
)

// leak is how many goroutines more than in the reference an operator may have at rest: connections come and go.
const leak = 12

// requestsOfRestart is how many requests an operator makes at its start, with what it tries again.
const requestsOfRestart = 150

// Judge returns what a plan shows to be wrong: where its outcome differs from the reference in more than the faults may do.
// The states after each step were compared already, see the failures of the outcome.
func Judge(p Plan, r *Reference, o *Outcome) []string {
	effect := sum(p.Faults)
	violations := slices.Clone(o.Failures)
	report := func(format string, args ...any) { violations = append(violations, fmt.Sprintf(format, args...)) }
	if len(o.Failures) == 0 && !effect.Replaced {
		for _, difference := range differences(r.Life, livesOf(p.Scenario, o)) {
			report("created and deleted otherwise: %s", difference)
		}
	}
	if o.Panics > 0 {
		report("%d panics", o.Panics)
	}
	if o.Goroutines > r.Goroutines+leak {
		report("%d goroutines, in the reference %d", o.Goroutines, r.Goroutines)
	}
	if o.Reconciles > r.Resting+restingTurns+effect.Turns {
		report("%d turns of the loop at rest", o.Reconciles)
	}
	if o.Ends > effect.Ends {
		report("the operator ended by itself, %d times", o.Ends)
	}
	for _, line := range complaints(o.Log, effect) {
		report("the operator logs %s", line)
	}
	// What a fault makes the operator write again may be a whole turn.
	if n, most := len(childWrites(o.Requests)), r.ChildWrites+effect.Writes*(1+p.Scenario.TakenNames); n > most {
		report("%d requests to write children, in the reference %d: %v", n, r.ChildWrites, count(o.Requests, proxy.Request.IsWrite))
	}
	if n, most := len(statusWrites(o.Requests)), statusBudget(p.Scenario, o.Elapsed)+effect.Writes; n > most {
		report("%d requests to write the status, at most %d: %v", n, most, count(o.Requests, proxy.Request.IsWrite))
	}
	most := 3*r.MostRequests + requestsOfRestart*(1+effect.Ends) + effect.Requests*int(o.Elapsed.Seconds())
	if len(o.Requests) > most {
		report("%d requests, in the reference %d: %v", len(o.Requests), r.MostRequests, count(o.Requests, proxy.Any))
	}
	return append(violations, untruths(p, r, o, effect)...)
}

// childWrites returns the requests to write children, and statusWrites those to write the status of the application.
func childWrites(requests []proxy.Request) []proxy.Request {
	return slices.DeleteFunc(slices.Clone(requests), func(q proxy.Request) bool { return !q.IsWrite() || q.Subresource == "status" })
}

func statusWrites(requests []proxy.Request) []proxy.Request {
	return slices.DeleteFunc(slices.Clone(requests), func(q proxy.Request) bool { return !q.IsWrite() || q.Subresource != "status" })
}

// transitions is how often a step may change a condition or the phase.
const transitions = 4

// statusBudget is how many times the status may be written: what changes a condition at once, all else once a second.
func statusBudget(s Scenario, elapsed time.Duration) int {
	return transitions*len(s.Steps) + int(elapsed.Seconds()) + 1
}

// restingTurns is how many turns of the loop more than in the reference there may be at rest: events that were under way.
const restingTurns = 3

// sum returns what several faults may lead to.
func sum(faults []Fault) Effect {
	var all Effect
	for _, f := range faults {
		e := f.Effect
		all.Logs, all.Reasons = append(all.Logs, e.Logs...), append(all.Reasons, e.Reasons...)
		all.Writes, all.Ends = all.Writes+e.Writes, all.Ends+e.Ends
		all.Turns, all.Requests = all.Turns+e.Turns, all.Requests+e.Requests
		all.Delay, all.Blind = all.Delay+e.Delay, all.Blind+e.Blind
		all.Replaced = all.Replaced || e.Replaced
	}
	if len(faults) > 1 {
		// Two errors may be in a row, which is told.
		all.Reasons = append(all.Reasons, "ApplyFailed")
	}
	return all
}

// differences tells where two counts differ.
func differences(want, got map[string]Life) []string {
	keys := maps.Clone(want)
	maps.Copy(keys, got)
	var found []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if want[key] != got[key] {
			found = append(found, fmt.Sprintf("%s %d times and %d times, in the reference %d and %d",
				key, got[key].Created, got[key].Deleted, want[key].Created, want[key].Deleted))
		}
	}
	return found
}

// complaints returns the lines of a log that tell of an error which the faults do not explain, and of every panic.
func complaints(log string, effect Effect) []string {
	var found []string
	for line := range strings.Lines(log) {
		isPanic := strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE")
		explains := func(part string) bool { return strings.Contains(line, part) }
		if isPanic || (strings.Contains(line, `"level":"error"`) && !slices.ContainsFunc(effect.Logs, explains)) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// tail returns the end of a log.
func tail(log string) string {
	const most = 4000
	return log[max(0, len(log)-most):]
}
