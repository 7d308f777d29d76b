// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// errLeaseRunOut is the answer to what is not sent.
var errLeaseRunOut = errors.New("not sent: the lease of this operator has run out, another one may lead")

// leaseFence keeps a leader from writing when its lease has run out. A process that was stopped for a while, or a machine
// that slept, goes on with what it had begun; client-go finds out only by its next renewals, and gives up the lead up to 10
// seconds later. Until then what it decided by an old view would undo what the present leader has done. The same goes for what
// has not ended when the lease is given back.
type leaseFence struct {
	// duration is how long the lease lasts.
	duration time.Duration
	// now is the clock.
	now func() time.Time
	// basePath is what paths at the API server begin with, before those of its APIs.
	basePath string
	// renewed is when the last renewal was sent that succeeded; the zero time when the lease was given back.
	renewed atomic.Pointer[time.Time]
}

// newLeaseFence returns a fence for the API server of a cluster.
func newLeaseFence(cluster *rest.Config) (*leaseFence, error) {
	server, _, err := rest.DefaultServerUrlFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	return &leaseFence{duration: leaseDuration, now: time.Now, basePath: strings.TrimSuffix(server.Path, "/")}, nil
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
	switch subject := t.fence.subjectOf(request); {
	case subject == ofTheLease && isGivenBack(request):
		t.fence.renewed.Store(&time.Time{})
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

// subjectOf tells whether a request writes, and what: a standby too may ask who its callers are, and tell events. The group
// of the API tells it: namespaces and objects may have any name.
func (f *leaseFence) subjectOf(request *http.Request) subject {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return ofNoInterest
	}
	path := strings.Split(strings.TrimPrefix(request.URL.Path, f.basePath+"/"), "/")
	if isOfCoreEvents(path) {
		return ofNoInterest
	}
	if path[0] != "apis" || len(path) < 2 {
		return ofApplications
	}
	switch path[1] {
	case "coordination.k8s.io":
		return ofTheLease
	case "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io":
		return ofNoInterest
	default:
		return ofApplications
	}
}

// isOfCoreEvents tells whether a path is api/v1/namespaces/NAMESPACE/events or that of one of them.
func isOfCoreEvents(path []string) bool {
	return (len(path) == 5 || len(path) == 6) && slices.Equal(path[:3], []string{"api", "v1", "namespaces"}) && path[4] == "events"
}

// isGivenBack tells whether a request leaves the lease to nobody.
func isGivenBack(request *http.Request) bool {
	if request.GetBody == nil {
		return false
	}
	body, err := request.GetBody()
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()
	content, err := io.ReadAll(body)
	if err != nil {
		return false
	}
	object, _, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(content, nil, nil)
	lease, isLease := object.(*coordinationv1.Lease)
	return err == nil && isLease && (lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "")
}
