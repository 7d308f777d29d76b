// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// Waiting returns, by kind, the children of an owner for which a change of what is desired
// waits to be carried out: those that are yet to be made, are not what was last applied to
// them, or are yet to be deleted. How somebody else changed a child is no such change, but
// one that was deleted is yet to be made. It writes nothing and asks nobody. It fails when a child cannot be serialized.
func (a *Applier) Waiting(owner workload.Owner, desired []resources.Child, surplus []workload.Object, observed workload.Observed) ([]string, error) {
	var waiting []string
	for _, child := range desired {
		in, err := newIntent(owner, child, a.writer.Scheme())
		if err != nil {
			return nil, err
		}
		live := observed.Children[child.Kind]
		if live == nil || owner.OwnershipOf(live) != workload.Ours || !a.applied.wasDesired(in, live) {
			waiting = append(waiting, child.Kind)
		}
	}
	for _, object := range surplus {
		gvk, err := apiutil.GVKForObject(object, a.writer.Scheme())
		if err != nil {
			return nil, err
		}
		waiting = append(waiting, gvk.Kind)
	}
	return waiting, nil
}
