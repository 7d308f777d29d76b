// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import "sync"

// journal holds the requests in the order in which they arrived, and the faults that await theirs. Both are under one lock,
// so that the n-th match of a fault is the n-th matching request of the journal.
type journal struct {
	mu         sync.Mutex
	requests   []*Request
	injections []*Injection
}

// arrive enters a request and returns it with its index, and the fault that strikes it, or nil.
func (j *journal) arrive(request Request) (*Request, *Injection) {
	j.mu.Lock()
	defer j.mu.Unlock()
	request.Index = len(j.requests)
	entry := &request
	j.requests = append(j.requests, entry)
	var struck *Injection
	for _, injection := range j.injections {
		if injection.matches(request) && struck == nil && injection.strikes() {
			struck = injection
			entry.Fault = injection.fault.Action.name
		}
	}
	return entry, struck
}

// answer enters the code that a request was answered with.
func (j *journal) answer(entry *Request, code int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	entry.Code = code
}

// Requests returns the requests so far, also those that are not answered yet, in the order in which they arrived.
func (p *Proxy) Requests() []Request { return p.RequestsSince(0) }

// RequestsSince returns the requests from this index on. The index of the next request is Count.
func (p *Proxy) RequestsSince(index int) []Request {
	p.journal.mu.Lock()
	defer p.journal.mu.Unlock()
	entries := p.journal.requests[min(index, len(p.journal.requests)):]
	requests := make([]Request, len(entries))
	for i, entry := range entries {
		requests[i] = *entry
	}
	return requests
}

// Count tells how many requests there were.
func (p *Proxy) Count() int {
	p.journal.mu.Lock()
	defer p.journal.mu.Unlock()
	return len(p.journal.requests)
}

// Writes returns those of Requests that IsWrite is true of.
func (p *Proxy) Writes() []Request {
	p.journal.mu.Lock()
	defer p.journal.mu.Unlock()
	var writes []Request
	for _, entry := range p.journal.requests {
		if entry.IsWrite() {
			writes = append(writes, *entry)
		}
	}
	return writes
}
