// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"platformapp/internal/workload"
)

// Prune deletes the owner's children that are no longer desired, once the owner is confirmed. A failure is told as
// Apply does.
func (a *Applier) Prune(ctx context.Context, surplus []workload.Object, confirm Confirm, result *workload.Applied) error {
	for _, object := range surplus {
		if object.GetDeletionTimestamp() != nil {
			continue
		}
		gvk, err := apiutil.GVKForObject(object, a.writer.Scheme())
		if err != nil {
			return err
		}
		if err = confirm(); err == nil {
			err = a.delete(ctx, gvk.Kind, object)
		}
		if err != nil {
			result.Failure = failureOf(gvk.Kind, err)
			return fmt.Errorf("delete %s %s/%s: %w", gvk.Kind, object.GetNamespace(), object.GetName(), err)
		}
	}
	return nil
}

// delete deletes the object, which may be gone already, and no other one of its name. If it
// has changed since it was looked at, it may be somebody else's by now: that is a conflict,
// after which the operator looks again.
func (a *Applier) delete(ctx context.Context, kind string, object workload.Object) error {
	asSeen := client.Preconditions{UID: new(object.GetUID()), ResourceVersion: new(object.GetResourceVersion())}
	err := client.IgnoreNotFound(a.writer.Delete(ctx, object, asSeen, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	switch key := client.ObjectKeyFromObject(object); {
	case err == nil:
		a.fence.ExpectDeleted(kind, key, object.GetResourceVersion())
	case apierrors.IsConflict(err):
		a.fence.ExpectEnd(kind, key, object.GetResourceVersion())
	}
	return err
}
