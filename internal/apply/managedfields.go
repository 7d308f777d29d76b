// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"platformapp/internal/workload"
)

// fieldOwners is who owns the fields of an object, as its managed fields tell.
type fieldOwners struct {
	entries []metav1.ManagedFieldsEntry
	// sets are the fields of the entries, in the same order.
	sets []*fieldpath.Set
	// apiVersion is that of the fields.
	apiVersion string
	changed    bool
}

func newFieldOwners(in *intent, live workload.Object) (*fieldOwners, error) {
	o := &fieldOwners{entries: live.GetManagedFields(), apiVersion: in.gvk.GroupVersion().String()}
	for _, entry := range o.entries {
		set := &fieldpath.Set{}
		if entry.FieldsV1 != nil {
			if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
				return nil, fmt.Errorf("read managed fields of %s: %w", entry.Manager, err)
			}
		}
		o.sets = append(o.sets, set)
	}
	return o, nil
}

// isApplied tells whether the entry is what the manager applies.
func isApplied(entry metav1.ManagedFieldsEntry, manager string) bool {
	return entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
}

// foreign returns the fields of other managers than the one by which the operator applies.
// Those that were written through a subresource, as the status is, do not count.
func (o *fieldOwners) foreign() *fieldpath.Set {
	foreign := &fieldpath.Set{}
	for i, entry := range o.entries {
		if entry.Subresource == "" && !isApplied(entry, workload.FieldManager) {
			foreign = foreign.Union(o.sets[i])
		}
	}
	return foreign
}

// transfer gives those of the fields that others own to a manager by which the operator
// applies, as a client does that changes over to server-side apply: what the manager's next
// apply leaves out of them disappears.
func (o *fieldOwners) transfer(fields *fieldpath.Set, manager string) {
	to, moved := -1, &fieldpath.Set{}
	for i, entry := range o.entries {
		switch {
		case isApplied(entry, manager):
			to = i
		case entry.Subresource == "":
			moved = moved.Union(o.sets[i].Intersection(fields))
			o.sets[i] = o.sets[i].Difference(fields)
		}
	}
	if moved.Empty() {
		return
	}
	o.changed = true
	if to < 0 {
		to = len(o.entries)
		o.entries = append(o.entries, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: o.apiVersion, FieldsType: "FieldsV1",
		})
		o.sets = append(o.sets, &fieldpath.Set{})
	}
	o.sets[to] = o.sets[to].Union(moved)
}

// serialized returns the managed fields; an entry without fields is left out.
func (o *fieldOwners) serialized() ([]metav1.ManagedFieldsEntry, error) {
	var out []metav1.ManagedFieldsEntry
	for i, entry := range o.entries {
		if o.sets[i].Empty() {
			continue
		}
		raw, err := o.sets[i].ToJSON()
		if err != nil {
			return nil, fmt.Errorf("write managed fields of %s: %w", entry.Manager, err)
		}
		entry.FieldsV1 = metav1.NewFieldsV1(string(raw))
		out = append(out, entry)
	}
	return out, nil
}

// writeFieldOwners writes the managed fields of the live object, if it has not changed since
// it was read, and takes over its new resource version.
func (a *Applier) writeFieldOwners(ctx context.Context, live workload.Object, o *fieldOwners) error {
	managedFields, err := o.serialized()
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": live.GetUID(), "resourceVersion": live.GetResourceVersion(), "managedFields": managedFields,
	}})
	if err != nil {
		return err
	}
	return a.writer.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(workload.FieldManager))
}
