// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
// are not desired. Only the lists that the refusal names are touched.
func (a *Applier) takeOver(ctx context.Context, in *intent, refusal error, result *workload.Applied) error {
	live, err := a.readLive(ctx, in)
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
	managedFields, moved, err := transferred(live.GetManagedFields(), refusedLists(refusal), wanted)
	if err != nil || !moved {
		return errors.Join(refusal, err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": live.GetUID(), "resourceVersion": live.GetResourceVersion(), "managedFields": managedFields,
	}})
	if err != nil {
		return err
	}
	if err := a.writer.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(workload.FieldManager)); err != nil {
		return err
	}
	return a.write(ctx, in, result)
}

// refusedLists returns, for each cause of a refusal that lies in a list item, the names
// of the fields from the root to that list: spec.ports[1].name gives spec, ports.
func refusedLists(refusal error) [][]string {
	var status apierrors.APIStatus
	if !errors.As(refusal, &status) || status.Status().Details == nil {
		return nil
	}
	var lists [][]string
	for _, cause := range status.Status().Details.Causes {
		end := strings.LastIndex(cause.Field, "[")
		if end < 0 {
			continue
		}
		var names []string
		for segment := range strings.SplitSeq(cause.Field[:end], ".") {
			name, _, _ := strings.Cut(segment, "[")
			names = append(names, name)
		}
		lists = append(lists, names)
	}
	return lists
}

// transferred returns the managed fields with everything that obstructs moved from the
// other managers to ours, and whether there was anything.
func transferred(entries []metav1.ManagedFieldsEntry, lists [][]string, wanted *fieldpath.Set) ([]metav1.ManagedFieldsEntry, bool, error) {
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
	obstructing := obstructions(foreign, lists, wanted)
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

// obstructions returns the fields of others that may be why the lists are refused: what
// they added to an item that is wanted, or else the items of theirs beside the wanted.
func obstructions(foreign *fieldpath.Set, lists [][]string, wanted *fieldpath.Set) *fieldpath.Set {
	var within, beside []fieldpath.Path
	for path := range foreign.All() {
		item := itemOf(path, lists)
		if item == nil || wanted.Has(path) || !parentsWanted(item, wanted) {
			continue
		}
		if wanted.Has(item) {
			within = append(within, path.Copy())
		} else {
			beside = append(beside, path.Copy())
		}
	}
	if len(within) > 0 {
		return fieldpath.NewSet(within...)
	}
	return fieldpath.NewSet(beside...)
}

// itemOf returns the part of a path that leads to an item of one of the lists, or nil.
func itemOf(path fieldpath.Path, lists [][]string) fieldpath.Path {
	var names []string
	for i, element := range path {
		if element.FieldName != nil {
			names = append(names, *element.FieldName)
			continue
		}
		if element.Key != nil && slices.ContainsFunc(lists, func(list []string) bool { return slices.Equal(list, names) }) {
			return path[:i+1]
		}
	}
	return nil
}

// parentsWanted tells whether the items that enclose an item are wanted: a container of
// somebody else is none of our business.
func parentsWanted(item fieldpath.Path, wanted *fieldpath.Set) bool {
	for i, element := range item[:len(item)-1] {
		if element.Key != nil && !wanted.Has(item[:i+1]) {
			return false
		}
	}
	return true
}
