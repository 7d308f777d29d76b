// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"fmt"
	"strings"
)

// What the API server gives an object that says nothing of it. The values serve for all:
// they reach children, and so must be the same whenever a version is cut.
const (
	namespace = "team-a"
	uid       = "0f7f0e4a-9d5c-4c5f-8d0e-6a3f0a2f7c11"
	// created is also when everything in a status happened.
	created = "2026-01-01T00:00:00Z"
)

// Cut returns the version of that name, made of the inputs by the operator and the schemas:
// each input as the API server would store it and the operator report on it. It fails when
// an input cannot be stored, unless it is there to be refused.
func (op Operator) Cut(ctx context.Context, name string, inputs []Input, schemas Schemas) (Version, error) {
	version := Version{Name: name}
	for _, input := range inputs {
		c, err := op.cutCase(ctx, input, schemas)
		if err != nil {
			return Version{}, fmt.Errorf("%s: %w", input.Name, err)
		}
		if c != nil {
			version.Cases = append(version.Cases, *c)
		}
	}
	return version, nil
}

func (op Operator) cutCase(ctx context.Context, input Input, schemas Schemas) (*Case, error) {
	object, err := readObject(input.Object)
	if err != nil {
		return nil, err
	}
	complete(object)
	if err := store(ctx, object, schemas); err != nil {
		if strings.HasPrefix(input.Name, refusedPrefix) {
			return nil, nil
		}
		return nil, err
	}
	c := &Case{Name: input.Name, Object: object, Cluster: input.Cluster}
	if input.State != StateNew {
		if object["status"], err = op.status(object, input.Cluster, input.State); err != nil {
			return nil, err
		}
		if err := store(ctx, object, schemas); err != nil {
			return nil, fmt.Errorf("with its status: %w", err)
		}
	}
	// A specification that breaks a rule is stored all the same when no webhook looks at it.
	c.Frozen, _, err = op.Render(object, c.Cluster)
	return c, err
}

// store makes of an object what the API server stores, or tells why it does not take it to
// the letter.
func store(ctx context.Context, object map[string]any, schemas Schemas) error {
	dropped, err := schemas.Load(object)
	if err != nil {
		return err
	}
	if len(dropped) > 0 {
		return fmt.Errorf("the schema does not know %s", strings.Join(dropped, ", "))
	}
	refusals, err := schemas.Refusals(ctx, object)
	if err != nil {
		return err
	}
	return refusals.ToAggregate()
}

// complete fills in the metadata that the API server sets.
func complete(object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	for key, value := range map[string]any{"namespace": namespace, "uid": uid, "creationTimestamp": created, "generation": int64(1)} {
		if _, given := metadata[key]; !given {
			metadata[key] = value
		}
	}
}
