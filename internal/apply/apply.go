// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package apply writes children by server-side apply and prunes them; nothing else
// writes them. It writes only what differs from what is there, never takes an object
// of somebody else, and never deletes one.
package apply

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// Applier applies children.
type Applier struct {
	writer  client.Client
	live    client.Reader
	expect  Expect
	differ  *differ
	applied *memory
}

// Expect is told of each write, with the resource version that it led to.
type Expect func(kind string, name types.NamespacedName, resourceVersion string)

// New returns an Applier that writes by writer and tells expect. It asks live, which must
// read from the API server itself, about objects that are not in the operator's cache.
func New(writer client.Client, live client.Reader, expect Expect) *Applier {
	return &Applier{writer: writer, live: live, expect: expect, differ: newDiffer(writer.Scheme()), applied: newMemory()}
}

// Forget drops what is remembered about the children of an owner that is gone.
func (a *Applier) Forget(owner types.NamespacedName) { a.applied.forget(owner) }

// Apply makes the children what is desired, in their order, and stops at the first that
// fails or, for the first child, whose name is taken. A failure is both told in the
// Applied, in the server's words, and returned as an error.
func (a *Applier) Apply(ctx context.Context, owner workload.Owner, desired []resources.Child, observed workload.Observed) (workload.Applied, error) {
	var result workload.Applied
	for i, child := range desired {
		err := a.applyChild(ctx, owner, child, observed.Children[child.Kind], &result)
		if err != nil {
			result.Failure = failureOf(child.Kind, err)
			return result, fmt.Errorf("apply %s %s/%s: %w", child.Kind, owner.Namespace, owner.Name, err)
		}
		if i == 0 && (len(result.Conflicts) > 0 || len(result.Terminating) > 0) {
			return result, nil
		}
	}
	return result, nil
}

func (a *Applier) applyChild(ctx context.Context, owner workload.Owner, child resources.Child, live workload.Object, result *workload.Applied) error {
	intent, err := newIntent(owner, child, a.writer.Scheme())
	if err != nil {
		return err
	}
	if live == nil {
		refusal := a.create(ctx, intent, result)
		if !apierrors.IsConflict(refusal) && !apierrors.IsAlreadyExists(refusal) {
			return refusal
		}
		live, err = a.readLive(ctx, intent)
		if apierrors.IsNotFound(err) {
			// It was gone again, or the conflict was about something else, such as a quota.
			return refusal
		}
		if err != nil {
			return err
		}
	}
	switch {
	case owner.OwnershipOf(live) == workload.Foreign:
		result.Conflicts = append(result.Conflicts, conflictOf(child.Kind, live))
		return nil
	case live.GetDeletionTimestamp() != nil || owner.OwnershipOf(live) == workload.Predecessors:
		result.Terminating = append(result.Terminating, child.Kind)
		return nil
	default:
		return a.update(ctx, intent, live, result)
	}
}

// create makes the object unless there is one, which is a conflict: an apply with a
// resource version that no object has can only create.
func (a *Applier) create(ctx context.Context, in *intent, result *workload.Applied) error {
	in.child.Meta.WithResourceVersion("1")
	return a.write(ctx, in, result)
}

func (a *Applier) readLive(ctx context.Context, in *intent) (workload.Object, error) {
	object, err := in.newObject()
	if err != nil {
		return nil, err
	}
	return object, a.live.Get(ctx, in.key, object)
}

// update makes the object what is desired, unless it is.
func (a *Applier) update(ctx context.Context, in *intent, live workload.Object, result *workload.Applied) error {
	current, modified, err := a.isCurrent(in, live)
	if err != nil {
		return err
	}
	if current {
		result.Modified = append(result.Modified, prefixed(in.child.Kind, modified)...)
		return mustBeSeen(live)
	}
	in.child.Meta.ResourceVersion = nil
	in.child.Meta.WithUID(live.GetUID())
	err = a.write(ctx, in, result)
	if apierrors.IsInvalid(err) {
		return a.takeOver(ctx, in, live.GetUID(), err, result)
	}
	return err
}

// isCurrent tells whether the live object is what was last applied and that is what is
// desired. The fields that admission rewrote when they were last applied count as they
// are; their paths come with it.
func (a *Applier) isCurrent(in *intent, live workload.Object) (bool, []string, error) {
	last, known := a.applied.get(in.memoryKey())
	known = known && last.uid == live.GetUID() && last.hash == in.hash
	if known && last.resourceVersion == live.GetResourceVersion() {
		return true, last.modified, nil
	}
	difference, err := a.differ.difference(in.object, live)
	if err != nil {
		return false, nil, err
	}
	if !difference.isEmpty() && (!known || last.accepted != difference.digest) {
		return false, nil, nil
	}
	a.remember(in, live, difference)
	return true, difference.paths, nil
}

// write applies the intent and remembers what the server made of it.
func (a *Applier) write(ctx context.Context, in *intent, result *workload.Applied) error {
	content, err := json.Marshal(in.child.Config)
	if err != nil {
		return err
	}
	apply, err := newRequest(content)
	if err != nil {
		return err
	}
	if err := a.writer.Apply(ctx, apply, client.FieldOwner(workload.FieldManager), client.ForceOwnership); err != nil {
		return err
	}
	a.expect(in.child.Kind, in.key, *apply.ResourceVersion)
	stored, err := in.newObject()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(apply.content, stored); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	difference, err := a.differ.difference(in.object, stored)
	if err != nil {
		return err
	}
	a.remember(in, stored, difference)
	result.Modified = append(result.Modified, prefixed(in.child.Kind, difference.paths)...)
	if in.child.Kind == workload.KindDeployment {
		result.Generation = stored.GetGeneration()
	}
	return mustBeSeen(stored)
}

// mustBeSeen refuses an object from which admission takes the label that the operator
// sees its objects by: it would never learn what becomes of it.
func mustBeSeen(object workload.Object) error {
	if object.GetLabels()[workload.LabelManagedBy] == workload.ManagedBy {
		return nil
	}
	return errUnseen
}

func (a *Applier) remember(in *intent, stored workload.Object, d difference) {
	a.applied.put(in.memoryKey(), entry{
		uid: stored.GetUID(), hash: in.hash, resourceVersion: stored.GetResourceVersion(),
		accepted: d.digest, modified: d.paths,
	})
}

// Prune deletes the owner's children that are no longer desired. A failure is told as
// Apply does.
func (a *Applier) Prune(ctx context.Context, surplus []workload.Object, result *workload.Applied) error {
	for _, object := range surplus {
		if object.GetDeletionTimestamp() != nil {
			continue
		}
		gvk, err := apiutil.GVKForObject(object, a.writer.Scheme())
		if err != nil {
			return err
		}
		uid := object.GetUID()
		err = a.writer.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			result.Failure = failureOf(gvk.Kind, err)
			return fmt.Errorf("delete %s %s/%s: %w", gvk.Kind, object.GetNamespace(), object.GetName(), err)
		}
	}
	return nil
}

func conflictOf(kind string, live workload.Object) workload.Conflict {
	conflict := workload.Conflict{Kind: kind}
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil {
		conflict.Controller = controller.Kind + " " + controller.Name
	}
	return conflict
}

func prefixed(kind string, paths []string) []string {
	var out []string
	for _, path := range paths {
		out = append(out, kind+path)
	}
	return out
}
