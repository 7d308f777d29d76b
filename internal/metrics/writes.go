// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The results of a write.
const (
	// resultApplied: the child is as it was sent.
	resultApplied = "applied"
	// resultDeleted: the child is gone, or was already.
	resultDeleted = "deleted"
	// resultConflict: the child has changed meanwhile, or an object of somebody else has
	// its name.
	resultConflict = "conflict"
	// resultForbidden: a right is missing, or a quota or a policy refuses the child.
	resultForbidden = "forbidden"
	// resultInvalid: the child breaks a rule of the API.
	resultInvalid = "invalid"
	// resultError: anything else; it is tried again.
	resultError = "error"
)

// counted is a client that counts what comes of its writes.
type counted struct{ client.Client }

// Counted returns a client that counts what comes of the writes of children.
func Counted(c client.Client) client.Client { return counted{c} }

// Apply applies an object and counts it.
func (c counted) Apply(ctx context.Context, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	err := c.Client.Apply(ctx, object, options...)
	kind := ""
	if named, ok := object.(interface{ GetKind() *string }); ok && named.GetKind() != nil {
		kind = *named.GetKind()
	}
	childWrites.WithLabelValues(kind, resultOf(err, resultApplied)).Inc()
	return err
}

// Patch patches an object and counts it.
func (c counted) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	err := c.Client.Patch(ctx, object, patch, options...)
	c.count(object, resultOf(err, resultApplied))
	return err
}

// Delete deletes an object and counts it.
func (c counted) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	err := c.Client.Delete(ctx, object, options...)
	c.count(object, resultOf(client.IgnoreNotFound(err), resultDeleted))
	return err
}

func (c counted) count(object client.Object, result string) {
	kind := ""
	if gvk, err := c.GroupVersionKindFor(object); err == nil {
		kind = gvk.Kind
	}
	childWrites.WithLabelValues(kind, result).Inc()
}

// resultOf sorts the error of a write; done is the result if there is none.
func resultOf(err error, done string) string {
	switch {
	case err == nil:
		return done
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return resultConflict
	case apierrors.IsForbidden(err):
		return resultForbidden
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return resultInvalid
	default:
		return resultError
	}
}
