// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"platformapp/internal/resources"
)

type memoryKey struct {
	kind  string
	child types.NamespacedName
}

// entry is the state in which a child was last found, or made, to be what is desired.
type entry struct {
	uid             types.UID
	hash            string
	resourceVersion string
	// accepted is the digest of what differed even so, since admission had rewritten it.
	accepted string
	// modified names what differed.
	modified []string
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

func (m *memory) forget(owner types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, kind := range resources.Kinds {
		delete(m.entries, memoryKey{kind.Name, owner})
	}
}
