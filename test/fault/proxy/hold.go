// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"time"
)

// Hold keeps back what watches deliver.
type Hold struct {
	watches *watches
	rule    *rule
}

// HoldOption changes what is kept back.
type HoldOption func(*effect)

// WithLists keeps back also the answers of new lists and the initial events of new watches, so that a client that starts
// anew, or lists again, waits as well. Without it these pass: they make the client's view fresh.
func WithLists() HoldOption {
	return func(e *effect) { e.holdsAll = true }
}

// FreezeWatches keeps back the events of the watches that match, those that are open and those to come: the client's view
// stays as it is. The connections stay open. A watch that begins with initial events is kept back when these are delivered.
// Release or Drop ends it. match must not call the Proxy, as those of the other rules.
func (p *Proxy) FreezeWatches(match func(Request) bool, opts ...HoldOption) *Hold {
	hold := &Hold{&p.watches, &rule{match: match, effect: effect{holds: true}}}
	for _, option := range opts {
		option(&hold.rule.effect)
	}
	p.watches.add(hold.rule)
	return hold
}

// Kept tells how many frames, events and bookmarks, are kept back now.
func (h *Hold) Kept() int {
	kept := 0
	for _, s := range h.held() {
		s.mu.Lock()
		kept += len(s.kept)
		s.mu.Unlock()
	}
	return kept
}

// Release delivers what was kept back, in order, and all that follows.
func (h *Hold) Release() { h.watches.remove(h.rule) }

// Drop discards what was kept back and ends the watches with 410 Gone: the client has missed events, is told so, and has to
// list again.
func (h *Hold) Drop() {
	for _, s := range h.held() {
		s.expire()
	}
	h.watches.remove(h.rule)
}

// held returns the watches that are kept back.
func (h *Hold) held() []*stream {
	var held []*stream
	for _, s := range h.watches.matching(h.rule.match) {
		s.mu.Lock()
		if s.synced || h.rule.effect.holdsAll {
			held = append(held, s)
		}
		s.mu.Unlock()
	}
	return held
}

// WatchRule is a change of what watches deliver.
type WatchRule struct {
	watches *watches
	rule    *rule
}

// Fired tells how many events were delivered under the rule.
func (r *WatchRule) Fired() int { return int(r.rule.fired.Load()) }

// Remove ends the change.
func (r *WatchRule) Remove() { r.watches.remove(r.rule) }

// DelayWatches delivers each event of the watches that match, those that are open and those to come, the time d later than
// it came, in order. Different delays of different resources change the order in which a client learns of changes.
func (p *Proxy) DelayWatches(match func(Request) bool, d time.Duration) *WatchRule {
	return p.newRule(match, effect{delay: d})
}

// DuplicateWatches delivers each event of the watches that match, those that are open and those to come, n times in a row.
func (p *Proxy) DuplicateWatches(match func(Request) bool, n int) *WatchRule {
	return p.newRule(match, effect{copies: n})
}

func (p *Proxy) newRule(match func(Request) bool, effect effect) *WatchRule {
	r := &WatchRule{&p.watches, &rule{match: match, effect: effect}}
	p.watches.add(r.rule)
	return r
}

// CutWatches breaks the connections of the open watches that match, and tells how many there were. With [WithTLS] these are
// the connections of all other requests as well. What was kept back is lost, and comes again when the client watches from
// where it was.
func (p *Proxy) CutWatches(match func(Request) bool) int {
	cut := p.watches.matching(match)
	for _, s := range cut {
		s.end(nil, errCut)
		reset(s.connection)
	}
	return len(cut)
}

// EndWatches ends the open watches that match as an API server does when their time is over, and tells how many there were.
func (p *Proxy) EndWatches(match func(Request) bool) int {
	ended := p.watches.matching(match)
	for _, s := range ended {
		s.end(nil, io.EOF)
	}
	return len(ended)
}

// Watching returns the requests of the open watches that match, in no order.
func (p *Proxy) Watching(match func(Request) bool) []Request {
	var open []Request
	for _, s := range p.watches.matching(match) {
		open = append(open, s.request)
	}
	return open
}
