// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"platformapp/internal/workload"
)

// handOver applies the handover of the number of pods and returns the Deployment as it is
// then stored. A locked handover is refused when the live object has changed meanwhile: the
// number that it holds may have been another's decision since.
func (t *turn) handOver(ctx context.Context, in *intent, live workload.Object, locked bool) (workload.Object, error) {
	config := in.child.Replicas
	serialized, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("serialize the handover of %s: %w", in.child.Kind, err)
	}
	digest := hashOf(serialized)
	last, _ := t.applied.get(in.memoryKey())
	if last.uid == live.GetUID() && last.refusedHandover == digest {
		return live, nil
	}
	wanted := &unstructured.Unstructured{}
	if err := wanted.UnmarshalJSON(serialized); err != nil {
		return nil, fmt.Errorf("read the handover of %s: %w", in.child.Kind, err)
	}
	if err := t.mayWrite(in, live); err != nil {
		return nil, err
	}
	config.WithUID(live.GetUID())
	if locked {
		config.WithResourceVersion(live.GetResourceVersion())
	}
	stored, err := t.send(ctx, in, config, workload.FieldManagerReplicas)
	if err != nil {
		return nil, err
	}
	return stored, t.rememberHandover(in, live, stored, wanted, digest)
}

// rememberHandover keeps the state that a handover led to: if the object was what is
// desired before, it is so still. A handover that admission undid is not tried again, or it
// would be written at every turn.
func (t *turn) rememberHandover(in *intent, live, stored workload.Object, wanted *unstructured.Unstructured, digest string) error {
	undone, err := t.differ.difference(wanted, stored)
	if err != nil {
		return err
	}
	e, _ := t.applied.get(in.memoryKey())
	if e.uid != stored.GetUID() {
		e = entry{uid: stored.GetUID()}
	}
	if t.applied.knows(in, live) {
		accepted, modified := e.accepted, e.modified
		e = newEntry(in, live, stored, e)
		e.accepted, e.modified = accepted, modified
	}
	_, wants := wanted.GetAnnotations()[workload.AnnotationOverriddenReplicas]
	_, has := stored.GetAnnotations()[workload.AnnotationOverriddenReplicas]
	e.refusedHandover = ""
	if !undone.isEmpty() || wants != has {
		e.refusedHandover = digest
	}
	t.applied.put(in.memoryKey(), e)
	t.tell(in, e)
	return nil
}
