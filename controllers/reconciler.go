// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

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
}

// Reconciler keeps the applications of one kind as they are asked for.
type Reconciler[T application] struct {
	kind      string
	observer  observe.Reader
	applier   *apply.Applier
	reporter  *reporter
	newObject func() T
	translate func(T) (workload.Workload, error)
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
	observed, err := r.observer.Read(ctx, w.Owner, waitsForAName(app.AppStatus()))
	if err != nil {
		return reconcile.Result{}, err
	}
	if invalid != nil {
		return r.finish(ctx, app, w, observed, workload.Applied{}, stalled(invalid))
	}
	desired := resources.Desired(w, observed)
	applied, err := r.applier.Apply(ctx, w.Owner, desired, observed)
	if err == nil {
		err = r.applier.Prune(ctx, resources.Surplus(w.Owner, desired, observed), &applied)
	}
	return r.finish(ctx, app, w, observed, applied, outcomeOf(applied, err))
}

// finish reports what came of the turn, the only writer of status, and tells when the
// next turn is due.
func (r *Reconciler[T]) finish(ctx context.Context, app T, w workload.Workload, observed workload.Observed, applied workload.Applied, o outcome) (reconcile.Result, error) {
	if o.stale || r.reporter.isFirst(app, o) {
		return o.result()
	}
	next := status.Compute(w, observed, applied, o.invalid, *app.AppStatus())
	due, err := r.reporter.report(ctx, app, next)
	return o.and(due, err).result()
}

// forget drops what is remembered about an application that is gone.
func (r *Reconciler[T]) forget(request reconcile.Request, err error) {
	if client.IgnoreNotFound(err) == nil {
		r.applier.Forget(request.NamespacedName)
		r.reporter.forget(request.NamespacedName)
		r.observer.Forget(r.kind, request.NamespacedName)
	}
}
