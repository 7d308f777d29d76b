// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"platformapp/internal/workload"
)

// How long the loop waits before it looks again at what no event tells.
const (
	// conflictRecheck is for a name that is taken: objects of others are not watched.
	conflictRecheck = 10 * time.Second
	// refusalRecheck is for a right, a quota or a policy that a person has to change.
	refusalRecheck = time.Minute
	// staleRecheck is for a write that met a newer object than the one it was decided on.
	staleRecheck = 100 * time.Millisecond
)

// outcome is what came of a turn of the loop: done, wait, stalled or retry.
type outcome struct {
	// invalid is the error of the user for which the application stalls.
	invalid error
	// wait is the time until the next turn; zero waits for an event.
	wait time.Duration
	// err is tried again with growing delay.
	err error
	// stale tells that the turn was decided on what is there no more: its result says
	// nothing about the application.
	stale bool
}

// stalled waits for a person to change the specification.
func stalled(invalid error) outcome { return outcome{invalid: invalid} }

// outcomeOf maps what came of applying the children; it is the only place that does.
func outcomeOf(applied workload.Applied, err error) outcome {
	switch {
	case applied.Failure == nil && (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)):
		return outcome{wait: staleRecheck, stale: true}
	case applied.Failure != nil && applied.Failure.Reason == workload.FailureNamespaceTerminating:
		// The application goes with the namespace, which takes no more events either.
		return outcome{stale: true}
	case applied.Failure != nil && applied.Failure.Reason != workload.FailureTransient:
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
	if due > 0 && (o.wait == 0 || due < o.wait) {
		o.wait = due
	}
	switch {
	case apierrors.IsConflict(err):
		o.wait = staleRecheck
	case !apierrors.IsNotFound(err):
		o.err = errors.Join(o.err, err)
	}
	return o
}

func (o outcome) result() (reconcile.Result, error) {
	if o.err != nil {
		return reconcile.Result{}, o.err
	}
	return reconcile.Result{RequeueAfter: o.wait}, nil
}
