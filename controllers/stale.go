// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/apply"
	"platformapp/internal/workload"
)

// confirmation returns what confirms an application, by one request at most. One that was never worked on, and of which there
// is no child, needs none: there is nothing that could be taken back, made again or rolled back.
func (r *Reconciler[T]) confirmation(ctx context.Context, app T, observed workload.Observed) apply.Confirm {
	if app.AppStatus().ObservedGeneration <= 0 && len(observed.Children) == 0 {
		return func() error { return nil }
	}
	return sync.OnceValue(func() error { return r.confirm(ctx, app) })
}

// confirm asks the API server whether an application is what was read of it: still there, not being deleted, and of the same
// specification. The cache may have yet to show otherwise.
func (r *Reconciler[T]) confirm(ctx context.Context, app T) error {
	key, present := client.ObjectKeyFromObject(app), r.newObject()
	err := r.observer.Live.Get(ctx, key, present)
	switch {
	case apierrors.IsNotFound(err) && !apply.IsUnserved(err):
		return apply.ErrOutdated
	case err != nil:
		return fmt.Errorf("see whether %s %s is what it was: %w", r.kind, key, err)
	case present.GetUID() != app.GetUID() || present.GetGeneration() != app.GetGeneration() || present.GetDeletionTimestamp() != nil:
		return apply.ErrOutdated
	}
	return nil
}
