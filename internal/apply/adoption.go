// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"platformapp/internal/workload"
)

// adopt makes an object of somebody else, who consents to it, the owner's. Whoever made it,
// a backup tool for example, owns its fields and would keep them there when they are no
// longer desired: so those that are desired are transferred to our field manager first. What
// else there is stays with whom it belongs to. A stop between the two leaves an object that
// still is to be adopted.
func (t *turn) adopt(ctx context.Context, s *step) error {
	if err := t.confirm(); err != nil {
		return err
	}
	want, err := t.differ.typed(s.object)
	if err != nil {
		return err
	}
	wanted, err := want.ToFieldSet()
	if err != nil {
		return err
	}
	owners, err := newFieldOwners(s.intent, s.live)
	if err != nil {
		return err
	}
	overridden := fieldpath.MakePathOrDie("metadata", "annotations", workload.AnnotationOverriddenReplicas)
	held := fieldpath.MakePathOrDie("metadata", "annotations", workload.AnnotationHeldReplicas)
	owners.transfer(fieldpath.NewSet(overridden), workload.FieldManagerReplicas)
	owners.transfer(wanted.Union(fieldpath.NewSet(held)), workload.FieldManager)
	if owners.changed {
		if err := t.writeFieldOwners(ctx, s.live, owners); err != nil {
			return err
		}
	}
	s.standing = ours
	return t.update(ctx, s)
}
