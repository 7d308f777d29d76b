// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"platformapp/internal/workload"
)

// takeOver handles a child that the server refuses because of what another manager has
// put into a list that the child is merged with: a second port of the same name, say, or
// a second source for the value of a variable. Applying again and again would be refused
// for ever. So the obstructing fields are transferred to our field manager, as a client
// does that changes over to server-side apply, and the next apply drops them, since they
// are not desired. Only the fields that the refusal names are touched; when none of them
// is another manager's, the refusal stands.
func (a *Applier) takeOver(ctx context.Context, in *intent, uid types.UID, refusal error, result *workload.Applied) error {
	live, err := a.readLive(ctx, in)
	if err != nil {
		return err
	}
	if live.GetUID() != uid {
		return refusal
	}
	have, err := a.differ.typed(live)
	if err != nil {
		return err
	}
	want, err := a.differ.typed(in.object)
	if err != nil {
		return err
	}
	wanted, err := want.ToFieldSet()
	if err != nil {
		return err
	}
	o := obstruction{wanted: wanted, want: want.AsValue(), have: have.AsValue(), causes: causesOf(refusal)}
	managedFields, moved, err := transferred(live.GetManagedFields(), o)
	if err != nil || !moved {
		return errors.Join(refusal, err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": uid, "resourceVersion": live.GetResourceVersion(), "managedFields": managedFields,
	}})
	if err != nil {
		return err
	}
	if err := a.writer.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(workload.FieldManager)); err != nil {
		return err
	}
	return a.write(ctx, in, result)
}

// transferred returns the managed fields with everything that obstructs moved from the
// other managers to ours, and whether there was anything.
func transferred(entries []metav1.ManagedFieldsEntry, o obstruction) ([]metav1.ManagedFieldsEntry, bool, error) {
	sets := make([]*fieldpath.Set, len(entries))
	ours, foreign := -1, &fieldpath.Set{}
	for i, entry := range entries {
		sets[i] = &fieldpath.Set{}
		if entry.FieldsV1 == nil {
			continue
		}
		if err := sets[i].FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return nil, false, fmt.Errorf("read managed fields of %s: %w", entry.Manager, err)
		}
		if entry.Manager == workload.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			ours = i
		} else if entry.Subresource == "" {
			foreign = foreign.Union(sets[i])
		}
	}
	obstructing := o.in(foreign)
	if ours < 0 || obstructing.Empty() {
		return nil, false, nil
	}
	var out []metav1.ManagedFieldsEntry
	for i, entry := range entries {
		switch {
		case i == ours:
			sets[i] = sets[i].Union(obstructing)
		case entry.Subresource == "":
			sets[i] = sets[i].Difference(obstructing)
		}
		if sets[i].Empty() {
			continue
		}
		raw, err := sets[i].ToJSON()
		if err != nil {
			return nil, false, fmt.Errorf("write managed fields of %s: %w", entry.Manager, err)
		}
		entry.FieldsV1 = metav1.NewFieldsV1(string(raw))
		out = append(out, entry)
	}
	return out, true, nil
}
