// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// errLeaseRunOut is the answer to what is not sent.
var errLeaseRunOut = errors.New("not sent: the lease of this operator has run out, another one may lead")

// leaseFence keeps a leader from writing when its lease has run out. A process that was stopped for a while, or a machine
// that slept, goes on with what it had begun; client-go finds out only by its next renewals, and gives up the lead up to 10
// seconds later. Until then what it decided by an old view would undo what the present leader has done.
type leaseFence struct {
	// duration is how long the lease lasts.
	duration time.Duration
	// now is the clock.
	now func() time.Time
	// renewed is when the last renewal was sent that succeeded.
	renewed atomic.Pointer[time.Time]
}

// Wrap puts the fence before a connection to the API server; all connections of an operator share one fence.
func (f *leaseFence) Wrap(next http.RoundTripper) http.RoundTripper {
	return fencedTransport{f, next}
}

type fencedTransport struct {
	fence *leaseFence
	next  http.RoundTripper
}

// RoundTrip sends a request unless it is fenced off.
func (t fencedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	switch subject := subjectOf(request); {
	case subject == ofTheLease:
		sent := t.fence.now()
		answer, err := t.next.RoundTrip(request)
		if err == nil && answer.StatusCode < http.StatusMultipleChoices {
			t.fence.renewed.Store(&sent)
		}
		return answer, err
	case subject == ofApplications && t.fence.isRunOut():
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, errLeaseRunOut
	}
	return t.next.RoundTrip(request)
}

// isRunOut tells whether the lease may be another's. Of the two clocks of a machine the one that tells of the longer time
// counts: one stands still while the machine sleeps, the other is set back at times. Before there is a lease nothing is
// fenced off: who has never led writes nothing.
func (f *leaseFence) isRunOut() bool {
	renewed := f.renewed.Load()
	if renewed == nil {
		return false
	}
	now := f.now()
	return max(now.Sub(*renewed), now.Round(0).Sub(renewed.Round(0))) > f.duration
}

// subject is what a request is about.
type subject int

const (
	ofNoInterest subject = iota
	ofTheLease
	ofApplications
)

// subjectOf tells whether a request writes, and what: a standby too may ask who its callers are, and tell events.
func subjectOf(request *http.Request) subject {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return ofNoInterest
	}
	for part := range strings.SplitSeq(request.URL.Path, "/") {
		switch part {
		case "leases":
			return ofTheLease
		case "events", "tokenreviews", "subjectaccessreviews":
			return ofNoInterest
		}
	}
	return ofApplications
}
