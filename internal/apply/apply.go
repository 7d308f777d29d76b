// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package apply writes children by server-side apply and prunes them; nothing else
// writes them. It writes only what differs from what is there, never takes an object
// of somebody else without consent, and never deletes one.
package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// Applier applies children.
type Applier struct {
	writer  client.Client
	live    client.Reader
	fence   Fence
	differ  *differ
	applied *memory
}

// Fence is told of each write, so that the next look shows what came of it.
type Fence interface {
	// Expect tells the resource version that a write led to.
	Expect(kind string, name types.NamespacedName, resourceVersion string)
	// ExpectEnd tells a resource version of an object that is not there any more in this
	// version: it has changed, or was deleted by somebody.
	ExpectEnd(kind string, name types.NamespacedName, resourceVersion string)
	// ExpectDeleted tells the last resource version of an object that was deleted.
	ExpectDeleted(kind string, name types.NamespacedName, resourceVersion string)
}

// New returns an Applier that writes by writer and tells fence. It asks live, which must
// read from the API server itself, about objects that are not in the operator's cache.
func New(writer client.Client, live client.Reader, fence Fence) *Applier {
	return &Applier{writer: writer, live: live, fence: fence, differ: newDiffer(writer.Scheme()), applied: newMemory()}
}

// Forget drops what is remembered about the children of an owner that is gone.
func (a *Applier) Forget(owner types.NamespacedName) { a.applied.forget(owner, nil) }

// Apply makes the children what is desired, in their order, and stops at the first that
// fails. It finds out whose the children are before it writes any: while the Deployment's
// name is taken nothing is written. It confirms the owner before it makes a child, takes one over, or writes to one for
// the first time. A failure is both told in the Applied, in the server's words, and returned as an error.
func (a *Applier) Apply(ctx context.Context, owner workload.Owner, desired []resources.Child, observed workload.Observed, confirm Confirm) (workload.Applied, error) {
	t := turn{Applier: a, owner: owner, confirm: confirm}
	for _, child := range desired {
		if err := t.look(ctx, child, observed); err != nil {
			return t.failed(child, err)
		}
	}
	for _, s := range t.steps {
		if t.mustWait() {
			return t.result, nil
		}
		err := t.carryOut(ctx, s)
		if apierrors.IsConflict(err) && s.live != nil {
			// Before that is seen the same would be tried in vain.
			t.fence.ExpectEnd(s.child.Kind, s.key, s.live.GetResourceVersion())
		}
		if err != nil {
			return t.failed(s.child, err)
		}
	}
	a.applied.forget(types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}, desired)
	return t.result, nil
}

// turn is the application of one owner's children.
type turn struct {
	*Applier
	owner   workload.Owner
	confirm Confirm
	steps   []*step
	result  workload.Applied
}

// step is a child on its way to be what is desired.
type step struct {
	*intent
	// live is what has the child's name, or nil.
	live     workload.Object
	standing standing
}

func (t *turn) failed(child resources.Child, err error) (workload.Applied, error) {
	t.result.Failure = failureOf(child.Kind, err)
	return t.result, fmt.Errorf("apply %s %s/%s: %w", child.Kind, t.owner.Namespace, child.Name, err)
}

// mustWait tells whether nothing may be written: without the Deployment the other children
// are of no use, and of what consents to its adoption a part alone is not taken.
func (t *turn) mustWait() bool {
	for _, s := range t.steps {
		switch {
		case s.child.Kind == workload.KindDeployment && (s.standing == taken || s.standing == leaving):
			return true
		case s.standing == adoptable && len(t.result.Conflicts) > 0:
			return true
		}
	}
	return false
}

func (t *turn) carryOut(ctx context.Context, s *step) error {
	switch s.standing {
	case settled:
		last, _ := t.applied.get(s.memoryKey())
		t.tell(s.intent, last)
		return mustBeSeen(s.live)
	case free:
		return t.create(ctx, s)
	case adoptable:
		return t.adopt(ctx, s)
	case ours:
		if isReplaceable(s.child.Kind) && immutableField(s.object, s.live) != "" {
			return t.replace(ctx, s)
		}
		return t.update(ctx, s)
	default:
		return nil
	}
}

// create makes the object unless there is one, which is a conflict: an apply with a
// resource version that no object has can only create.
func (t *turn) create(ctx context.Context, s *step) error {
	if err := t.confirm(); err != nil {
		return err
	}
	last, known := t.applied.get(s.memoryKey())
	s.child.Meta.WithResourceVersion("1")
	stored, _, err := t.write(ctx, s.intent, nil)
	if isTaken(err) {
		return t.meet(ctx, s, err)
	}
	if err != nil {
		return err
	}
	if known && last.hash == s.hash {
		t.result.Repaired = append(t.result.Repaired, s.child.Kind)
	}
	if s.child.Replicas != nil {
		if _, err := t.handOver(ctx, s.intent, stored, false); err != nil {
			return err
		}
	}
	return nil
}

// update makes the object what is desired, unless it is.
func (t *turn) update(ctx context.Context, s *step) error {
	live := s.live
	if s.child.Replicas != nil {
		stored, err := t.handOver(ctx, s.intent, live, true)
		if err != nil {
			return err
		}
		live = stored
	}
	return t.settle(ctx, s.intent, live)
}
