// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// watches are the open watches of a Proxy and the rules for them.
type watches struct {
	mu      sync.RWMutex // held for reading while a frame is taken: no frame is delivered by rules that were
	rules   []*rule
	changed chan struct{} // closed with the next change of the rules; nil when nobody waits for it
	open    map[*stream]struct{}
}

// effect is what the rules do to a watch.
type effect struct {
	holds    bool // what comes after the initial events is kept back
	holdsAll bool // also the initial events and the answers of lists
	delay    time.Duration
	copies   int
}

// rule has its effect on the watches that it matches.
type rule struct {
	match  func(Request) bool
	effect effect
	fired  atomic.Int64 // the events that were delivered under the rule
}

// add makes the rule hold.
func (w *watches) add(r *rule) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules = append(w.rules, r)
	w.announce()
}

// remove ends the rule.
func (w *watches) remove(r *rule) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules = slices.DeleteFunc(w.rules, func(other *rule) bool { return other == r })
	w.announce()
}

// announce wakes all up that wait for another rule. The lock is held.
func (w *watches) announce() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
	for s := range w.open {
		s.notify()
	}
}

// effect is the sum of the rules for the request. The lock is held.
func (w *watches) effect(request Request) effect {
	var sum effect
	for _, rule := range w.rules {
		if rule.match(request) {
			sum.holds = sum.holds || rule.effect.holds
			sum.holdsAll = sum.holdsAll || rule.effect.holdsAll
			sum.delay = max(sum.delay, rule.effect.delay)
			sum.copies = max(sum.copies, rule.effect.copies)
		}
	}
	return sum
}

// count enters an event that is delivered in all rules for the request. The lock is held.
func (w *watches) count(request Request) {
	for _, rule := range w.rules {
		if rule.match(request) {
			rule.fired.Add(1)
		}
	}
}

// admit waits while a rule keeps the answer of a list back. It returns false when the context ends before.
func (w *watches) admit(ctx context.Context, request Request) bool {
	if request.Verb != verbList {
		return true
	}
	for {
		changed := w.holdsList(request)
		if changed == nil {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// holdsList returns nil when no rule keeps the answer of the list back, else what is closed when the rules change.
func (w *watches) holdsList(request Request) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.effect(request).holdsAll {
		return nil
	}
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return w.changed
}

// stream returns the body that delivers a watch as the rules allow, until the client, whose connection this is, is gone.
func (w *watches) stream(
	request Request, connection net.Conn, gone <-chan struct{}, answer *http.Response,
) (io.ReadCloser, error) {
	framing, err := framingOf(answer.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	s := &stream{
		request: request, connection: connection, gone: gone, framing: framing, watches: w, upstream: answer.Body,
		synced: !request.initial, wake: make(chan struct{}, 1),
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[*stream]struct{}{}
	}
	w.open[s] = struct{}{}
	go s.receive()
	return s, nil
}

// forget drops a watch that has ended.
func (w *watches) forget(s *stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, s)
}

// matching returns the open watches that match.
func (w *watches) matching(match func(Request) bool) []*stream {
	w.mu.RLock()
	defer w.mu.RUnlock()
	var found []*stream
	for s := range w.open {
		if match(s.request) {
			found = append(found, s)
		}
	}
	return found
}
