// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
)

// Event is a change of an object, as the API server tells it.
type Event struct {
	Type   watch.EventType
	Kind   string
	Object *unstructured.Unstructured
	At     time.Time
}

// objectKey names an object of a namespace.
type objectKey struct{ kind, name string }

func (k objectKey) String() string { return k.kind + " " + k.name }

// History is all that has happened in a namespace: every version of every object of the recorded kinds, of each kind in the
// order of the API server.
type History struct {
	mu     sync.Mutex
	events []Event
	live   map[objectKey]*unstructured.Unstructured
	gone   map[types.UID]bool
	// replicaSets are the names of all ReplicaSets by the ones that they have, see [nameOf].
	replicaSets map[string]string
	changed     chan struct{}
}

func newHistory() *History {
	return &History{
		live: map[objectKey]*unstructured.Unstructured{}, gone: map[types.UID]bool{}, replicaSets: map[string]string{},
		changed: make(chan struct{}),
	}
}

func (h *History) add(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := objectKey{e.Kind, e.Object.GetName()}
	if e.Type == watch.Deleted {
		delete(h.live, key)
		h.gone[e.Object.GetUID()] = true
	} else {
		h.live[key] = e.Object
	}
	if e.Kind == "ReplicaSet" {
		h.replicaSets[key.name] = replicaSetName(e.Object)
	}
	h.events = append(h.events, e)
	close(h.changed)
	h.changed = make(chan struct{})
}

// Len returns the number of events so far: a mark for [History.Since].
func (h *History) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.events)
}

// Since returns the events after a mark. They must not be changed.
func (h *History) Since(mark int) []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events[mark:len(h.events):len(h.events)]
}

// Last returns when the last event was seen.
func (h *History) Last() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.events) == 0 {
		return time.Time{}
	}
	return h.events[len(h.events)-1].At
}

// View returns what there is now.
func (h *History) View() View {
	h.mu.Lock()
	defer h.mu.Unlock()
	return View{objects: maps.Clone(h.live), replicaSets: maps.Clone(h.replicaSets)}
}

// next returns a channel that is closed at the next event.
func (h *History) next() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// checkInterval is how often something that depends on more than the history is looked at without an event, and
// checkPause the least time between two looks, since events come in bursts.
const (
	checkInterval = 250 * time.Millisecond
	checkPause    = 50 * time.Millisecond
)

// Await looks until check passes. It fails with what the last look said when the context ends.
func (h *History) Await(ctx context.Context, check func() error) error {
	for {
		next := h.next()
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(checkPause):
		}
		select {
		case <-next:
		case <-time.After(checkInterval):
		case <-ctx.Done():
		}
	}
}

// AwaitVersion waits until the history has reached a version of an object that somebody wrote.
func (h *History) AwaitVersion(ctx context.Context, kind, name, version string) error {
	return h.Await(ctx, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, e := range slices.Backward(h.events) {
			if e.Kind != kind || e.Object.GetName() != name {
				continue
			}
			if order, err := resourceversion.CompareResourceVersion(e.Object.GetResourceVersion(), version); err != nil || order >= 0 {
				return err
			}
			break
		}
		return fmt.Errorf("%s %s has not been seen at version %s", kind, name, version)
	})
}

// AwaitGone waits until the history has reached the end of an object.
func (h *History) AwaitGone(ctx context.Context, key objectKey, uid types.UID) error {
	return h.Await(ctx, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if now := h.live[key]; h.gone[uid] || (now != nil && now.GetUID() != uid) {
			return nil
		}
		return fmt.Errorf("%s has not been seen to go", key)
	})
}
