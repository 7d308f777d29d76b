// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"platformapp/api/appstatus"
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
	if len(o.Failures) == 0 {
		want, got := maps.Clone(r.Life), livesOf(p.Scenario, o)
		for _, kind := range effect.Replaced {
			key := objectKey{kind, childName(kind)}.String()
			delete(want, key)
			delete(got, key)
		}
		for _, difference := range differences(want, got) {
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
	for _, excess := range excesses(p.Scenario, r, o, effect) {
		report("%s", excess)
	}
	most := 3*r.MostRequests + requestsOfRestart*(1+effect.Ends) + effect.Requests*int(o.Elapsed.Seconds())
	if len(o.Requests) > most {
		report("%d requests, in the reference %d: %v", len(o.Requests), r.MostRequests, count(o.Requests, proxy.Any))
	}
	violations = append(violations, untold(p, o)...)
	return append(violations, untruths(p, r, o, effect)...)
}

// excesses returns what the operator asked to write more often than the reference, the faults and the time account for.
func excesses(s Scenario, r *Reference, o *Outcome, effect Effect) []string {
	var found []string
	writes := count(o.Requests, proxy.Request.IsWrite)
	later := o.Elapsed - r.Elapsed
	for _, key := range slices.Sorted(maps.Keys(writes)) {
		most := r.MostWrites[key] + effect.Others
		if slices.Contains(effect.Struck, key) {
			most += effect.Writes
		}
		isOfStatus := strings.HasSuffix(key, "/status")
		if !isOfStatus {
			most += min(conflicts(o.Requests, key), mostConflicts)
		}
		switch {
		case isOfStatus:
			most += statusSpare*len(s.Steps) + max(0, int(later/statusPace))
			if effect.Blind > 0 {
				most += lateSpare * len(s.Steps)
			}
		case s.TakenNames > 0:
			// Each turn tries again what was refused for its name.
			most += effect.Writes + max(0, int(later/recheck))
		case s.Rechecks:
			// Each turn tries again what is refused, and a status that is written again makes one; so does one that is told again.
			most += effect.Writes + 1
		}
		if n := writes[key]; n > most {
			found = append(found, fmt.Sprintf("%d requests %s, at most %d, in the reference %d:%s",
				n, key, most, r.MostWrites[key], journal(o.Requests, key)))
		}
	}
	return found
}

// mostConflicts is how many conflicts with others each kind of write to children may meet: the control plane writes the status
// of some children on its own.
const mostConflicts = 2

// conflicts is how many requests of a kind the API server, and no fault, answered with 409.
func conflicts(requests []proxy.Request, key string) int {
	n := 0
	for _, q := range requests {
		if q.Key() == key && q.Code == http.StatusConflict && q.Fault == "" {
			n++
		}
	}
	return n
}

// journal tells when the requests of a kind were made, and what came of them.
func journal(requests []proxy.Request, key string) string {
	var text strings.Builder
	for _, q := range requests {
		if q.Key() == key {
			fmt.Fprintf(&text, "\n  %s %s: %d %s", q.At.Format("15:04:05.000"), q.Name, q.Code, q.Fault)
		}
	}
	return text.String()
}

const (
	// statusPace is how often the status is written for what it counts; what changes a condition is written at once.
	statusPace = time.Second
	// statusSpare is how many versions of the status more a step may have than in the reference: moments of a rollout that the
	// pace of all that take part shows or does not.
	statusSpare = 2
	// lateSpare is how many more there may be when the operator learns late of what becomes of the pods: it tells moments one by
	// one that it else sees at once.
	lateSpare = 2
)

// toldWithin is how soon the status has to tell what a person has to put right.
const toldWithin = 10 * time.Second

// untold returns the answers of a fault that the status had to tell and did not. Of two faults one may hide the other.
func untold(p Plan, o *Outcome) []string {
	if len(p.Faults) != 1 || p.Faults[0].Effect.Must == "" {
		return nil
	}
	var found []string
	must := p.Faults[0].Effect.Must
	for _, q := range o.Requests {
		if q.Fault == "" || !slices.Contains(p.Faults[0].Effect.Struck, q.Key()) {
			continue
		}
		if !isTold(p.Scenario.Kind, must, q.At, o) {
			found = append(found, fmt.Sprintf("%s is answered %d at %s, and within %s Ready=False has not the reason %s",
				q.Key(), q.Code, q.At.Format(time.TimeOnly), toldWithin, must))
		}
	}
	return found
}

// obstacles are the reasons that come before a refusal: another object is in the way.
var obstacles = []string{appstatus.ReasonTerminating, appstatus.ReasonNameConflict}

// isTold tells whether an application of a kind told a reason soon after a time, or an obstacle, or told it then already, or
// was changed or deleted meanwhile.
func isTold(kind, reason string, since time.Time, o *Outcome) bool {
	generations, known := map[types.UID]int64{}, map[types.UID]bool{}
	for _, e := range slices.Concat(o.Earlier, o.Events) {
		if e.Kind != kind || e.At.Sub(since) > toldWithin {
			continue
		}
		uid, generation, isTold := e.Object.GetUID(), e.Object.GetGeneration(), tells(e.Object, reason)
		if e.At.Before(since) {
			generations[uid], known[uid] = generation, isTold && e.Type != watch.Deleted
			continue
		}
		isOver := e.Type == watch.Deleted || e.Object.GetDeletionTimestamp() != nil || generation != generations[uid]
		if isTold || isOver {
			return true
		}
	}
	return slices.Contains(slices.Collect(maps.Values(known)), true)
}

// tells tells whether a version of an application has Ready=False for a reason or an obstacle.
func tells(app *unstructured.Unstructured, reason string) bool {
	status, err := statusOf(app)
	ready := meta.FindStatusCondition(status.Conditions, appstatus.ConditionReady)
	return err == nil && ready != nil && ready.Status == metav1.ConditionFalse &&
		(ready.Reason == reason || slices.Contains(obstacles, ready.Reason))
}

// restingTurns is how many turns of the loop more than in the reference there may be at rest: events that were under way.
const restingTurns = 3

// sum returns what several faults may lead to.
func sum(faults []Fault) Effect {
	var all Effect
	for _, f := range faults {
		e := f.Effect
		all.Logs, all.Reasons = append(all.Logs, e.Logs...), append(all.Reasons, e.Reasons...)
		all.Struck, all.Ends = append(all.Struck, e.Struck...), all.Ends+e.Ends
		all.Writes, all.Others = all.Writes+e.Writes, all.Others+e.Others
		all.Turns, all.Requests = all.Turns+e.Turns, all.Requests+e.Requests
		all.Delay, all.Blind = all.Delay+e.Delay, all.Blind+e.Blind
		all.Replaced = append(all.Replaced, e.Replaced...)
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
