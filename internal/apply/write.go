// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

// settle makes a live object of ours what is desired, unless it is.
func (t *turn) settle(ctx context.Context, in *intent, live workload.Object) error {
	if last, known := t.applied.get(in.memoryKey()); known && last.isOf(in, live) && last.resourceVersion == live.GetResourceVersion() {
		t.tell(in, last)
		return mustBeSeen(live)
	}
	before, err := t.differ.difference(in.object, live)
	if err != nil {
		return err
	}
	if t.applied.accepts(in, live, before) {
		t.remember(in, live, live, before)
		return mustBeSeen(live)
	}
	if err := t.mayWrite(in, live); err != nil {
		return err
	}
	wasDesired := t.applied.wasDesired(in, live)
	in.child.Meta.WithUID(live.GetUID())
	if t.applied.hasWritten(in, live) {
		in.child.Meta.ResourceVersion = nil
	} else {
		// After a start, or when another replica led before, the cache may still show the child's
		// past, and what is desired was decided by that too.
		in.child.Meta.WithResourceVersion(live.GetResourceVersion())
	}
	_, after, err := t.write(ctx, in, live)
	if apierrors.IsInvalid(err) {
		_, after, err = t.takeOver(ctx, in, live, err)
	}
	if err == nil && wasDesired && before.digest != after.digest {
		t.result.Repaired = append(t.result.Repaired, in.child.Kind)
	}
	return err
}

// write applies the intent, remembers what the server made of it, and returns that and
// where it still differs from what is desired: there admission has changed it. before is
// the object that it is applied to, or nil.
func (t *turn) write(ctx context.Context, in *intent, before workload.Object) (workload.Object, difference, error) {
	stored, err := t.send(ctx, in, in.child.Config, workload.FieldManager)
	if err != nil {
		return nil, difference{}, err
	}
	after, err := t.differ.difference(in.object, stored)
	if err != nil {
		return nil, difference{}, err
	}
	t.remember(in, before, stored, after)
	t.applied.markWritten(in)
	return stored, after, mustBeSeen(stored)
}

// send applies a configuration of the intent's object as a field manager, and returns the
// object as it is then stored.
func (a *Applier) send(ctx context.Context, in *intent, config runtime.ApplyConfiguration, manager string) (workload.Object, error) {
	content, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	apply, err := newRequest(content)
	if err != nil {
		return nil, err
	}
	if err := a.writer.Apply(ctx, apply, client.FieldOwner(manager), client.ForceOwnership); err != nil {
		return nil, conflictOf(in, err)
	}
	a.fence.Expect(in.child.Kind, in.key, *apply.ResourceVersion)
	stored, err := in.newObject()
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(apply.content, stored); err != nil {
		return nil, fmt.Errorf("read the server's answer: %w", err)
	}
	return stored, nil
}

// remember keeps the state in which the object needs no write, and tells of it. before is
// the object as it was, or nil.
func (t *turn) remember(in *intent, before, stored workload.Object, d difference) {
	last, _ := t.applied.get(in.memoryKey())
	e := newEntry(in, before, stored, last)
	e.accepted, e.modified = d.digest, d.paths
	t.applied.put(in.memoryKey(), e)
	t.tell(in, e)
}

// tell puts what is remembered of a child into the result.
func (t *turn) tell(in *intent, e entry) {
	for _, path := range e.modified {
		t.result.Modified = append(t.result.Modified, in.child.Kind+path)
	}
	if in.child.Kind == workload.KindDeployment {
		t.result.Generation = e.specGeneration
	}
}
