// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

type memoryKey struct {
	kind  string
	child types.NamespacedName
}

// entry is the state in which a child was last found, or made, to be what is desired.
type entry struct {
	uid  types.UID
	hash string
	// isWritten tells that this process has written the object: what it sees of it, and of its
	// owner, is not older than what that was decided on.
	isWritten       bool
	resourceVersion string
	// accepted is the digest of what differed even so, since admission had rewritten it.
	accepted string
	// modified names what differed.
	modified []string
	// refusedHandover is the digest of a handover of the number of pods that admission
	// undid, or empty.
	refusedHandover string
	// generation is that of the object, specGeneration the one since which its
	// specification is what it is; both count for a Deployment alone.
	generation, specGeneration int64
}

// newEntry returns the state that a write, which before may be nil for, led to; last is the
// entry of before.
func newEntry(in *intent, before, stored workload.Object, last entry) entry {
	e := entry{uid: stored.GetUID(), hash: in.hash, resourceVersion: stored.GetResourceVersion(), generation: stored.GetGeneration()}
	if last.uid == e.uid {
		e.refusedHandover, e.isWritten = last.refusedHandover, last.isWritten
	}
	switch {
	case !hasSameSpec(before, stored):
		e.specGeneration = e.generation
	case last.uid == e.uid && last.generation == before.GetGeneration():
		e.specGeneration = last.specGeneration
	default:
		e.specGeneration = before.GetGeneration()
	}
	return e
}

// hasSameSpec tells whether two states of a Deployment have the same specification.
func hasSameSpec(before, after workload.Object) bool {
	if before == nil || before == after {
		return before != nil
	}
	a, ok := before.(*appsv1.Deployment)
	b, both := after.(*appsv1.Deployment)
	return ok && both && equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// isOf tells whether the entry is about this object and what is desired now.
func (e entry) isOf(in *intent, live workload.Object) bool {
	return e.uid == live.GetUID() && e.hash == in.hash
}

// memory remembers, for each child, the state that needs no write. It saves comparing
// an object that has not changed, and tells what admission rewrote from drift. It may
// be lost: then the next write finds out again.
type memory struct {
	mu      sync.Mutex
	entries map[memoryKey]entry
}

func newMemory() *memory { return &memory{entries: map[memoryKey]entry{}} }

func (m *memory) get(key memoryKey) (entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[key]
	return e, ok
}

func (m *memory) put(key memoryKey, e entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[key] = e
}

// knows tells whether an object is exactly as it was last found, or made, to be desired.
func (m *memory) knows(in *intent, live workload.Object) bool {
	last, known := m.get(in.memoryKey())
	return known && last.isOf(in, live) && last.resourceVersion == live.GetResourceVersion()
}

// accepts tells whether an object that differs so from what is desired needs no write:
// there is no difference, or it is what admission left of the last write.
func (m *memory) accepts(in *intent, live workload.Object, d difference) bool {
	last, known := m.get(in.memoryKey())
	return d.isEmpty() || (known && last.isOf(in, live) && last.accepted == d.digest)
}

// wasDesired tells whether an object was already what is desired now: whatever differs
// since then is the work of others.
func (m *memory) wasDesired(in *intent, live workload.Object) bool {
	last, known := m.get(in.memoryKey())
	return (known && last.isOf(in, live)) || live.GetAnnotations()[workload.AnnotationAppliedHash] == in.hash
}

// hasWritten tells whether this process has written an object.
func (m *memory) hasWritten(in *intent, live workload.Object) bool {
	last, known := m.get(in.memoryKey())
	return known && last.uid == live.GetUID() && last.isWritten
}

// markWritten keeps that this process has written the object.
func (m *memory) markWritten(in *intent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[in.memoryKey()]
	e.isWritten = true
	m.entries[in.memoryKey()] = e
}

// forget drops what is remembered of the owner's children, but for those that are desired.
func (m *memory) forget(owner types.NamespacedName, desired []resources.Child) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, kind := range resources.Kinds {
		if !slices.ContainsFunc(desired, func(c resources.Child) bool { return c.Kind == kind.Name }) {
			delete(m.entries, memoryKey{kind.Name, types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name + kind.Suffix}})
		}
	}
}
