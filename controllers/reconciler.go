// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"platformapp/api/appstatus"
	"platformapp/internal/apply"
	"platformapp/internal/observe"
	"platformapp/internal/resources"
	"platformapp/internal/status"
	"platformapp/internal/workload"
)

// application is an object of a kind that the loop serves.
type application interface {
	client.Object
	AppStatus() *appstatus.Status
	// AppDetails is nil for a kind that has none.
	AppDetails() *appstatus.Details
}

// check returns why an application, valid as it is, is not carried out beside what else
// there is in the cluster, or nil.
type check[T application] func(context.Context, T, workload.Workload, workload.Observed) (*workload.Stall, error)

// Reconciler keeps the applications of one kind as they are asked for.
type Reconciler[T application] struct {
	kind       string
	observer   observe.Reader
	references *observe.References
	applier    *apply.Applier
	reporter   *reporter
	lacks      func(ctx context.Context, kind string) bool
	newObject  func() T
	translate  func(T) (workload.Workload, error)
	checks     []check[T]
}

// Reconcile makes one turn of the loop for one application.
func (r *Reconciler[T]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	app := r.newObject()
	if err := r.observer.Get(ctx, r.kind, request.NamespacedName, app); err != nil {
		r.forget(request, err)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if app.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, nil
	}
	w, invalid := r.translate(app)
	r.references.Record(request.NamespacedName, w.References)
	observed, unseen := r.observer.Read(ctx, w, invalid == nil && waitsForAName(app.AppStatus()))
	stall, err := r.firstStall(ctx, app, w, observed, invalid, unseen)
	switch {
	case err != nil:
		return r.finish(ctx, app, w, observed, unreadable(err), outcome{stall: stall, err: err})
	case stall != nil:
		return r.finish(ctx, app, w, observed, workload.Applied{}, stalled(stall))
	}
	desired := resources.Desired(w, observed)
	surplus := resources.Surplus(w, desired, observed)
	if w.Paused {
		waiting, err := r.applier.Waiting(w.Owner, desired, surplus, observed)
		return r.finish(ctx, app, w, observed, workload.Applied{Waiting: waiting}, outcome{err: err})
	}
	applied, err := r.carryOut(ctx, app, w.Owner, desired, surplus, observed)
	return r.finish(ctx, app, w, observed, applied, r.outcome(ctx, applied, err))
}

// carryOut makes the children what is desired and deletes those that are not, unless the application turns out to be not
// any more what these were decided by.
func (r *Reconciler[T]) carryOut(ctx context.Context, app T, owner workload.Owner, desired []resources.Child, surplus []workload.Object, observed workload.Observed) (workload.Applied, error) {
	confirm := r.confirmation(ctx, app, observed)
	applied, err := r.applier.Apply(ctx, owner, desired, observed, confirm)
	if err == nil {
		err = r.applier.Prune(ctx, surplus, confirm, &applied)
	}
	return applied, err
}

// outcome returns what came of applying the children. An optional kind that the API server
// turns out to lack was decided on before it went: the next turn does without it.
func (r *Reconciler[T]) outcome(ctx context.Context, applied workload.Applied, err error) outcome {
	if f := applied.Failure; f != nil && f.Reason == workload.FailureUnserved && r.lacks(ctx, f.Kind) {
		return outcome{wait: staleRecheck, stale: true}
	}
	return outcomeOf(applied, err)
}

// unreadable is what came of a turn that could not see all that it has to decide by.
func unreadable(err error) workload.Applied {
	return workload.Applied{Failure: &workload.Failure{Reason: workload.FailureTransient, Kind: "The cluster cannot be read", Message: err.Error()}}
}

// firstStall returns why the application is not carried out, or nil. unseen is why the look
// is incomplete, or nil: by such a one nothing is judged but the specification itself.
func (r *Reconciler[T]) firstStall(ctx context.Context, app T, w workload.Workload, observed workload.Observed, invalid, unseen error) (*workload.Stall, error) {
	if invalid != nil {
		return &workload.Stall{Reason: workload.StallInvalid, Message: invalid.Error()}, unseen
	}
	if unseen != nil {
		return nil, unseen
	}
	for _, check := range r.checks {
		if stall, err := check(ctx, app, w, observed); stall != nil || err != nil {
			return stall, err
		}
	}
	return nil, nil
}

// finish reports what came of the turn, the only writer of status, and tells when the
// next turn is due.
func (r *Reconciler[T]) finish(ctx context.Context, app T, w workload.Workload, observed workload.Observed, applied workload.Applied, o outcome) (reconcile.Result, error) {
	// Whatever came of the rest, the next turn finds this repaired.
	recordRepair(r.reporter.recorder, app, applied.Repaired)
	o.first = !o.stale && r.reporter.isFirst(app, o)
	if o.stale || o.first {
		return o.result()
	}
	next := r.reporter.compute(app, status.Input{Workload: w, Observed: observed, Applied: applied, Stall: o.stall})
	if o.err != nil && observed.Deployment() == nil {
		keepUnseen(&next.Status, *app.AppStatus())
	}
	due, err := r.reporter.report(ctx, app, next)
	return o.and(due, err).within(time.Duration(next.RecheckAfter) * time.Second).result()
}

// forget drops what is remembered about an application that is gone.
func (r *Reconciler[T]) forget(request reconcile.Request, err error) {
	if client.IgnoreNotFound(err) == nil {
		r.applier.Forget(request.NamespacedName)
		r.reporter.forget(request.NamespacedName)
		r.references.Forget(request.NamespacedName)
		r.observer.Forget(request.NamespacedName)
	}
}
