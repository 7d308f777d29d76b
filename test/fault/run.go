// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"platformapp/test/fault/proxy"
)

const (
	// convergence bounds the way of a step to what it asks for, on a machine that does much else. Faults add to it.
	convergence = 90 * time.Second
	// calm is how long nothing may have happened before the next step of a plan begins, which knows by the reference what has
	// to come; settled is the same for the reference, which does not.
	calm    = 300 * time.Millisecond
	settled = 3 * time.Second
)

// Outcome is what came of carrying a scenario out.
type Outcome struct {
	// States are those after each step.
	States []State
	// Requests are those of the operator since the first fault could strike, and Events what happened since then.
	Requests []proxy.Request
	Events   []Event
	// Earlier is what happened before.
	Earlier []Event
	// ReplicaSets are the names of ReplicaSets by the ones that they have, see [nameOf].
	ReplicaSets map[string]string
	// Log is the whole log of the operator.
	Log string
	// Goroutines and Panics are what the operator's metrics tell at the end; -1 when it could not be asked.
	Goroutines, Panics int
	// Reconciles is how many turns of the loop the operator made while it was to be at rest.
	Reconciles int
	// Ends is how often the operator ended by itself.
	Ends int
	// First is what the applications reported before the first fault could strike, as in the reasons of the reference.
	First []string
	// Elapsed is how long the steps that meet faults took, with all that came of them.
	Elapsed time.Duration
	// Fired tells whether each fault has struck.
	Fired bool
	// Failures are why a step did not get where it had to, or did not stay there.
	Failures []string
}

// run is one carrying out of a scenario.
type run struct {
	*Stage

	scenario Scenario
	faults   []Fault
	// want is the reference; nil in the reference run itself.
	want *Reference
	// rest is how long nothing may happen at the end.
	rest time.Duration

	armed   []armed
	outcome *Outcome
	// request and event are where the steps that meet faults begin.
	request, event int
	begun          time.Time
}

// play carries out all steps, with the faults in all but the first ones. It fails when it cannot be carried out; what the
// operator does wrong is in the outcome.
func (r *run) play(ctx context.Context) error {
	r.outcome = &Outcome{}
	steps := r.scenario.steps()
	for i, step := range steps {
		if i == len(r.scenario.Before) {
			r.begin()
		}
		if err := r.do(ctx, step); err != nil {
			if !errors.As(err, &wrongdoing{}) {
				return fmt.Errorf("step %q: %w", step.Name, err)
			}
			r.fail("step %q: %v", step.Name, err)
			break
		}
		if err := r.await(ctx, i, step, r.quiet()); err != nil {
			r.fail("step %q does not get where the reference gets: %v", step.Name, err)
			break
		}
		state, err := StateOf(r.Namespace, r.History.View())
		if err != nil {
			return err
		}
		if step.Restores {
			if diff := r.outcome.States[i-1].WithoutRollouts().Diff(state.WithoutRollouts()); diff != "" {
				r.fail("step %q is not undone: %s", step.Name, diff)
			}
		}
		r.outcome.States = append(r.outcome.States, state)
	}
	r.end(ctx)
	return nil
}

func (r *run) fail(format string, args ...any) {
	r.outcome.Failures = append(r.outcome.Failures, fmt.Sprintf(format, args...))
}

// begin arms the faults.
func (r *run) begin() {
	r.request, r.event, r.begun = len(r.Proxy.Requests()), r.History.Len(), time.Now()
	last := map[string]string{}
	for _, s := range statuses(r.scenario.Kind, r.History.Since(0)) {
		last[s.app.GetName()] = s.String()
	}
	r.outcome.First = slices.Collect(maps.Values(last))
	for _, fault := range r.faults {
		r.armed = append(r.armed, fault.arm(r.Stage))
	}
}

// do does what a step does, and what the faults do around it.
func (r *run) do(ctx context.Context, step Step) error {
	for _, a := range r.armed {
		if a.before != nil {
			a.before(ctx)
		}
	}
	if err := step.Do(ctx, r.Stage); err != nil {
		return err
	}
	for _, a := range r.armed {
		if a.after != nil {
			a.after(ctx)
		}
	}
	return nil
}

// await waits until a step is carried out: what it asks for holds, the state is that of the reference, no fault is under
// way, and nothing has happened for a moment.
func (r *run) await(ctx context.Context, i int, step Step, quiet time.Duration) error {
	limit := convergence
	for _, fault := range r.faults {
		limit += fault.Effect.Delay
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %s", limit))
	defer cancel()
	return r.History.Await(ctx, func() error {
		for _, a := range r.armed {
			if a.pending() {
				return errors.New("a fault is under way")
			}
		}
		v := r.History.View()
		if err := step.Holds(v); err != nil {
			return err
		}
		if r.want == nil {
			if err := v.rolledOut(); err != nil {
				return err
			}
		} else {
			state, err := StateOf(r.Namespace, v)
			if err != nil {
				return err
			}
			if diff := r.differs(i, state); diff != "" {
				return errors.New(diff)
			}
		}
		if since := time.Since(r.lastChange()); since < quiet {
			return fmt.Errorf("something has changed %s ago", since.Round(time.Millisecond))
		}
		return nil
	})
}

// quiet is how long nothing may have happened before the next step.
func (r *run) quiet() time.Duration {
	if r.want == nil {
		return settled
	}
	return calm
}

// differs tells how a state differs from that of the reference after the step i.
func (r *run) differs(i int, state State) string {
	want := r.want.States[i]
	if r.scenario.Races {
		want, state = want.WithoutRollouts(), state.WithoutRollouts()
	}
	return want.Diff(state)
}

// lastChange is when the history was changed, or the operator last asked to write.
func (r *run) lastChange() time.Time {
	last := r.History.Last()
	if writes := r.Proxy.Writes(); len(writes) > 0 && writes[len(writes)-1].At.After(last) {
		last = writes[len(writes)-1].At
	}
	return last
}

// end ends the faults, looks whether all stays as it is, and collects what is to be judged.
func (r *run) end(ctx context.Context) {
	r.outcome.Fired = true
	for _, a := range r.armed {
		r.outcome.Fired = r.outcome.Fired && a.fired()
		if a.release != nil {
			a.release()
		}
		if a.wrong != nil {
			r.outcome.Failures = append(r.outcome.Failures, a.wrong()...)
		}
	}
	if err := r.Operator.WaitReady(ctx); err != nil {
		r.fail("the operator is not ready: %v", err)
	}
	steps := r.scenario.steps()
	if last := len(steps) - 1; len(r.outcome.Failures) == 0 {
		// The end of a fault, or an operator that has just been started, may move things once more.
		if err := r.await(ctx, last, steps[last], settled); err != nil {
			r.fail("it does not end where the reference ends: %v", err)
		} else if r.rest > 0 {
			r.stay(ctx)
		}
	}
	r.outcome.Goroutines, r.outcome.Panics = -1, -1
	var err error
	if r.outcome.Goroutines, err = r.Operator.Gauge(ctx, "go_goroutines"); err != nil {
		r.fail("the operator does not serve its metrics: %v", err)
	}
	if r.outcome.Panics, err = r.Operator.Gauge(ctx, "controller_runtime_reconcile_panics_total"); err != nil {
		r.fail("the operator does not serve its metrics: %v", err)
	}
	r.outcome.Requests = r.Proxy.Requests()[r.request:]
	history := r.History.Since(0)
	r.outcome.Earlier, r.outcome.Events = history[:r.event], history[r.event:]
	r.outcome.ReplicaSets = r.History.View().replicaSets
	r.outcome.Ends, r.outcome.Elapsed = r.Operator.Ends(), time.Since(r.begun)
}
