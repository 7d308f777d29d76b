// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"platformapp/internal/apply"
	"platformapp/internal/workload"
)

// How long the loop waits before it looks again at what no event tells.
const (
	// conflictRecheck is for a name that is taken: objects of others are not watched.
	conflictRecheck = 10 * time.Second
	// refusalRecheck is for a right, a quota or a policy that a person has to change.
	refusalRecheck = time.Minute
	// invalidRecheck is for what breaks a rule of the API server: the same write is refused
	// again, unless the rule goes with another version of the server.
	invalidRecheck = time.Hour
	// staleRecheck is for a write that met a newer object than the one it was decided on.
	staleRecheck = 100 * time.Millisecond
)

// outcome is what came of a turn of the loop: done, wait, stalled or retry.
type outcome struct {
	// stall is what a person has to change before the application is carried out.
	stall *workload.Stall
	// wait is the time until the next turn; zero waits for an event.
	wait time.Duration
	// err is tried again with growing delay.
	err error
	// first tells that err is the first one in a row: most pass.
	first bool
	// stale tells that the turn was decided on what is there no more: its result says
	// nothing about the application.
	stale bool
}

// stalled waits for a person to change the application or what it collides with, which is
// an event either way.
func stalled(stall *workload.Stall) outcome { return outcome{stall: stall} }

// outcomeOf maps what came of applying the children; it is the only place that does.
func outcomeOf(applied workload.Applied, err error) outcome {
	switch {
	case errors.Is(err, apply.ErrOutdated):
		// What the application is now, or its end, is an event.
		return outcome{stale: true}
	case applied.Failure == nil && (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)):
		return outcome{wait: staleRecheck, stale: true}
	case applied.Failure != nil && applied.Failure.Reason == workload.FailureNamespaceTerminating:
		// The application goes with the namespace, which takes no more events either.
		return outcome{stale: true}
	case applied.Failure != nil && applied.Failure.Reason == workload.FailureInvalid:
		return outcome{wait: invalidRecheck}
	case applied.Failure != nil && (applied.Failure.Reason == workload.FailureTransient || applied.Failure.Reason == workload.FailureUnserved):
		return outcome{err: err}
	case applied.Failure != nil:
		return outcome{wait: refusalRecheck}
	case err != nil:
		return outcome{err: err}
	case len(applied.Conflicts) > 0, len(applied.Terminating) > 0:
		return outcome{wait: conflictRecheck}
	default:
		return outcome{}
	}
}

// and returns the outcome together with that of the status write.
func (o outcome) and(due time.Duration, err error) outcome {
	o = o.within(due)
	switch {
	case apierrors.IsConflict(err):
		o.wait = staleRecheck
	case !apierrors.IsNotFound(err):
		o.err = errors.Join(o.err, err)
	}
	return o
}

// within returns the outcome with the next turn in that time at the latest; zero asks for
// none.
func (o outcome) within(due time.Duration) outcome {
	if due > 0 && (o.wait == 0 || due < o.wait) {
		o.wait = due
	}
	return o
}

// result asks for the next turn. That of what goes on failing, or waits for a person, gives
// way to those that an event asks for: many such applications delay no change of another
// one. All else keeps the priority that it had.
func (o outcome) result() (reconcile.Result, error) {
	next := reconcile.Result{}
	if o.err == nil {
		next.RequeueAfter = o.wait
	}
	if (o.err != nil && !o.first) || next.RequeueAfter >= conflictRecheck {
		next.Priority = new(handler.LowPriority)
	}
	return next, o.err
}
