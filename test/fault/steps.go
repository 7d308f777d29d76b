// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// create is the step in which a user creates an object; the object is made anew each time.
func create(kind string, newObject func() client.Object, holds check) Step {
	return Step{Name: "create " + kind, Holds: holds, Do: func(ctx context.Context, s *Stage) error {
		return s.Create(ctx, kind, newObject(), user)
	}}
}

// edit is the step in which a user changes an application by a merge patch.
func edit(kind, name, patch string, holds check) Step {
	return patchAs(user, kind, name, types.MergePatchType, patch, holds)
}

// patchAs is the step in which somebody patches an object.
func patchAs(by, kind, name string, patchType types.PatchType, patch string, holds check) Step {
	return Step{Name: fmt.Sprintf("patch %s %s", kind, patch), Holds: holds, Do: func(ctx context.Context, s *Stage) error {
		return s.Patch(ctx, kind, name, patchType, patch, by)
	}}
}

// remove is the step in which somebody deletes an object.
func remove(kind, name string, holds check) Step {
	return Step{Name: "delete " + kind, Holds: holds, Do: func(ctx context.Context, s *Stage) error {
		return s.Delete(ctx, kind, name)
	}}
}

// scale is the step in which somebody scales the Deployment.
func scale(by, name string, replicas int, holds check) Step {
	return Step{Name: fmt.Sprintf("scale to %d", replicas), Holds: holds, Do: func(ctx context.Context, s *Stage) error {
		return s.Scale(ctx, name, replicas, by)
	}}
}

// together is the step in which several things are done one after the other, without waiting for the operator.
func together(name string, holds check, steps ...Step) Step {
	return Step{Name: name, Holds: holds, Do: func(ctx context.Context, s *Stage) error {
		for _, step := range steps {
			if err := step.Do(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}}
}

// restart is the step in which the operator is ended gently and started again, as the same version or the next.
func restart(upgrade bool, holds check) Step {
	name := "restart the operator"
	if upgrade {
		name = "upgrade the operator"
	}
	return Step{Name: name, Holds: holds, Do: func(ctx context.Context, s *Stage) error {
		binary := s.binaries.Present
		if upgrade {
			binary = s.binaries.Next
		}
		if err := s.Operator.Replace(ctx, binary); err != nil {
			return wrongdoing{fmt.Errorf("the operator is not replaced: %w", err)}
		}
		return nil
	}}
}
