// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	"platformapp/internal/workload"
)

// takeOver handles a child that the server refuses because of what another manager has
// put beside what is desired: a second port of the same name, say, or a second source for
// the value of a variable. Applying again and again would be refused for ever. So the
// obstructing fields are transferred to our field manager, and the next apply drops them,
// since they are not desired. Only what the refusal names is touched; when none of it is
// another manager's, the refusal stands.
func (t *turn) takeOver(ctx context.Context, in *intent, before workload.Object, refusal error) (workload.Object, difference, error) {
	live, err := t.readLive(ctx, in)
	if err != nil {
		return nil, difference{}, err
	}
	if live.GetUID() != before.GetUID() {
		return nil, difference{}, refusal
	}
	have, err := t.differ.typed(live)
	if err != nil {
		return nil, difference{}, err
	}
	want, err := t.differ.typed(in.object)
	if err != nil {
		return nil, difference{}, err
	}
	wanted, err := want.ToFieldSet()
	if err != nil {
		return nil, difference{}, err
	}
	owners, err := newFieldOwners(in, live)
	if err != nil {
		return nil, difference{}, err
	}
	o := obstruction{wanted: wanted, want: want.AsValue(), have: have.AsValue(), causes: causesOf(refusal)}
	owners.transfer(o.in(owners.foreign()), workload.FieldManager)
	if !owners.changed {
		return nil, difference{}, refusal
	}
	if err := t.writeFieldOwners(ctx, live, owners); err != nil {
		return nil, difference{}, err
	}
	// The refusal was of the version that was seen, and the transfer has led to the next one.
	in.child.Meta.ResourceVersion = nil
	return t.write(ctx, in, before)
}
