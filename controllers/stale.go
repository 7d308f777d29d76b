// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// isGone tells whether an application is not there any more, or being deleted, though the
// cache has yet to show it. The API server is asked only when a child is missing that is to be
// made although the application has been worked on before: then garbage collection may
// have removed it, and would remove again what is made anew.
func (r *Reconciler[T]) isGone(ctx context.Context, app T, desired []resources.Child, observed workload.Observed) (bool, error) {
	if app.AppStatus().ObservedGeneration <= 0 || !lacksAny(desired, observed) {
		return false, nil
	}
	key, present := client.ObjectKeyFromObject(app), r.newObject()
	err := r.observer.Live.Get(ctx, key, present)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("see whether %s %s is still there: %w", r.kind, key, err)
	}
	return present.GetUID() != app.GetUID() || present.GetDeletionTimestamp() != nil, nil
}

// lacksAny tells whether any of the desired children is not there.
func lacksAny(desired []resources.Child, observed workload.Observed) bool {
	for _, child := range desired {
		if observed.Children[child.Kind] == nil {
			return true
		}
	}
	return false
}
