// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// constantAnswer answers every request with a status.
type constantAnswer int

func (status constantAnswer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(status), Body: http.NoBody}, nil
}

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/a/leases/" + leaderElectionID

// send sends a request through a fence to a server that constantAnswer it so, and returns whether its body was closed.
func send(t *testing.T, f *leaseFence, method, path string, status int) (closed bool, err error) {
	t.Helper()
	body := &watchedBody{Reader: strings.NewReader("{}")}
	request, err := http.NewRequestWithContext(t.Context(), method, "https://server"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := f.Wrap(constantAnswer(status)).RoundTrip(request)
	if err == nil {
		_ = answer.Body.Close()
	}
	return body.closed, err
}

// watchedBody tells whether it was closed.
type watchedBody struct {
	io.Reader
	closed bool
}

// Close notes that it was called.
func (b *watchedBody) Close() error {
	b.closed = true
	return nil
}

func TestALeaderWhoseLeaseHasRunOutWritesNothing(t *testing.T) {
	const deployments = "/apis/apps/v1/namespaces/a/deployments/orders"
	synctest.Test(t, func(t *testing.T) {
		f := &leaseFence{duration: leaseDuration, now: time.Now}
		passes := func(when, method, path string, want bool) {
			t.Helper()
			closed, err := send(t, f, method, path, http.StatusOK)
			if want && err != nil {
				t.Errorf("%s: %s %s: %v", when, method, path, err)
			}
			if !want && (!errors.Is(err, errLeaseRunOut) || !closed) {
				t.Errorf("%s: %s %s: %v, body closed %t, want it to be held back", when, method, path, err, closed)
			}
		}
		renew := func(status int) {
			t.Helper()
			if _, err := send(t, f, http.MethodPut, leasePath, status); err != nil {
				t.Error(err)
			}
		}
		passes("before there was a lease", http.MethodPatch, deployments, true)
		renew(http.StatusOK)
		time.Sleep(leaseDuration)
		passes("at the end of the lease", http.MethodPatch, deployments, true)
		time.Sleep(time.Millisecond)
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			passes("after the lease", method, deployments, false)
		}
		passes("after the lease", http.MethodGet, deployments, true)
		for _, path := range []string{
			"/api/v1/namespaces/a/events", "/apis/events.k8s.io/v1/namespaces/a/events/b",
			"/apis/authentication.k8s.io/v1/tokenreviews", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
		} {
			passes("after the lease", http.MethodPost, path, true)
		}
		renew(http.StatusConflict)
		passes("after a renewal that failed", http.MethodPatch, deployments, false)
		renew(http.StatusOK)
		passes("after a renewal", http.MethodPatch, deployments, true)
	})
}

// A machine that sleeps stops the one clock, and somebody may set the other.
func TestTheClockThatTellsOfMoreTimeEndsTheLease(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		now  time.Time
		want bool
	}{
		"both go on":             {now.Add(time.Minute), true},
		"the wall clock went on": {now.Round(0).Add(time.Minute), true},
		"it was set back":        {now.Round(0).Add(-time.Hour), false},
		"no time has passed":     {now, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := &leaseFence{duration: leaseDuration, now: func() time.Time { return test.now }}
			f.renewed.Store(&now)
			if got := f.isRunOut(); got != test.want {
				t.Errorf("isRunOut = %t, want %t", got, test.want)
			}
		})
	}
}
