// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"slices"
	"sync"
)

// Fault is what is to happen to some of the requests.
type Fault struct {
	// Match chooses the requests; nil chooses all. It is called once for each request, in order of arrival, and must not
	// call the Proxy.
	Match func(Request) bool
	// Skip is how many matching requests pass before the first that is struck.
	Skip int
	// Times is how many requests are struck: 0 is one, less than 0 every one.
	Times int
	// Action is what happens to a request that is struck.
	Action Action
}

// Injection is a Fault in a Proxy.
type Injection struct {
	fault   Fault
	journal *journal
	// Guarded by the journal's lock: the matching requests, and those of them that were struck.
	matched, fired int

	once sync.Once
	done chan struct{}
}

// Inject makes the Fault strike the requests that arrive from now on. A request is struck by one Fault at most, the one
// that was injected first; another that was due strikes the next request that it matches.
func (p *Proxy) Inject(fault Fault) *Injection {
	if fault.Match == nil {
		fault.Match = Any
	}
	if fault.Times == 0 {
		fault.Times = 1
	}
	injection := &Injection{fault: fault, journal: &p.journal, done: make(chan struct{})}
	p.journal.mu.Lock()
	defer p.journal.mu.Unlock()
	p.journal.injections = append(p.journal.injections, injection)
	return injection
}

// Fired tells how many requests were struck.
func (i *Injection) Fired() int {
	i.journal.mu.Lock()
	defer i.journal.mu.Unlock()
	return i.fired
}

// Done is closed when the Action has done its work on a request for the first time: its function has returned, its answer
// was sent, the connection is reset, the time of the hold is over.
func (i *Injection) Done() <-chan struct{} { return i.done }

// Remove ends the Fault; requests that it struck are not freed.
func (i *Injection) Remove() {
	i.journal.mu.Lock()
	defer i.journal.mu.Unlock()
	i.journal.injections = slices.DeleteFunc(i.journal.injections, func(other *Injection) bool { return other == i })
}

// matches counts the request when the fault chooses it. The journal's lock is held.
func (i *Injection) matches(request Request) bool {
	if !i.fault.Match(request) {
		return false
	}
	i.matched++
	return true
}

// strikes tells whether the request that was counted last is struck, and counts that. The journal's lock is held.
func (i *Injection) strikes() bool {
	if i.matched <= i.fault.Skip || i.fault.Times >= 0 && i.fired >= i.fault.Times {
		return false
	}
	i.fired++
	return true
}

// finish closes Done.
func (i *Injection) finish() { i.once.Do(func() { close(i.done) }) }
