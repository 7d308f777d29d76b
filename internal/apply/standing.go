// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// standing is how it stands with the name of a child.
type standing int

const (
	// free: nothing has the name.
	free standing = iota
	// settled: the owner's own object has it, and is what is desired.
	settled
	// ours: the owner's own object has it.
	ours
	// adoptable: the object of somebody else has it and consents to its adoption.
	adoptable
	// taken: the object of somebody else has it.
	taken
	// leaving: an object has it that is on its way out.
	leaving
)

// look finds out how it stands with a child before anything is written. The cache may lack
// an object of somebody else; about the Deployment, on which the others depend, the API
// server is asked if anything would be written before it.
func (t *turn) look(ctx context.Context, child resources.Child, observed workload.Observed) error {
	in, err := newIntent(t.owner, child, t.writer.Scheme())
	if err != nil {
		return err
	}
	s := &step{intent: in, live: observed.Children[child.Kind]}
	if s.live != nil && child.Replicas == nil && t.applied.knows(in, s.live) {
		s.standing = settled
		t.steps = append(t.steps, s)
		return nil
	}
	if err := in.parse(); err != nil {
		return err
	}
	if s.live == nil && child.Kind == workload.KindDeployment && len(t.steps) > 0 {
		err := t.meet(ctx, s, apierrors.NewNotFound(schema.GroupResource{}, child.Name))
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	} else if s.live != nil {
		if err := t.judge(ctx, s); err != nil {
			return err
		}
	}
	t.steps = append(t.steps, s)
	return nil
}

// meet handles an object that the operator did not see but that may have the name of a
// child. If there is none, otherwise is returned. If it is one that is to be updated, then
// what is desired was decided without it: the turn is stale, and the next look sees it.
func (t *turn) meet(ctx context.Context, s *step, otherwise error) error {
	live, err := t.readLive(ctx, s.intent)
	if apierrors.IsNotFound(err) {
		return otherwise
	}
	if err != nil {
		return err
	}
	s.live = live
	if err := t.judge(ctx, s); err != nil || s.standing == taken || s.standing == leaving {
		return err
	}
	if t.applied.knows(s.intent, live) {
		return mustBeSeen(live)
	}
	t.fence.Expect(s.child.Kind, s.key, live.GetResourceVersion())
	return apierrors.NewConflict(schema.GroupResource{Resource: s.child.Kind}, s.child.Name, errors.New("the object has been modified since it was looked for"))
}

// judge sets the standing of a child whose name something has.
func (t *turn) judge(ctx context.Context, s *step) error {
	conflict := workload.Conflict{Kind: s.child.Kind, Name: s.child.Name}
	switch ownership := t.owner.OwnershipOf(s.live); {
	case ownership != workload.Foreign && (ownership == workload.Predecessors || s.live.GetDeletionTimestamp() != nil):
		s.standing = leaving
		t.result.Terminating = append(t.result.Terminating, s.child.Kind)
		return nil
	case ownership == workload.Ours:
		s.standing = ours
		return nil
	case t.owner.MayAdopt(s.live):
		// The cache may hold only a part of an object of somebody else.
		live, err := t.readLive(ctx, s.intent)
		if err != nil {
			return err
		}
		if conflict.Obstacle = immutableField(s.object, live); conflict.Obstacle == "" && t.owner.MayAdopt(live) {
			s.live, s.standing = live, adoptable
			return nil
		}
	}
	if controller := metav1.GetControllerOfNoCopy(s.live); controller != nil {
		conflict.Controller = controller.Kind + " " + controller.Name
	}
	s.standing = taken
	t.result.Conflicts = append(t.result.Conflicts, conflict)
	return nil
}

func (a *Applier) readLive(ctx context.Context, in *intent) (workload.Object, error) {
	object, err := in.newObject()
	if err != nil {
		return nil, err
	}
	return object, a.live.Get(ctx, in.key, object)
}

// mustBeSeen refuses an object from which admission takes the label that the operator
// sees its objects by: it would never learn what becomes of it.
func mustBeSeen(object workload.Object) error {
	if object.GetLabels()[workload.LabelManagedBy] == workload.ManagedBy {
		return nil
	}
	return errUnseen
}
