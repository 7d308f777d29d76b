// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/test/fault/proxy"
)

// TestStatusReachesTheClient tells by each code what client-go makes of it, in both encodings.
func TestStatusReachesTheClient(t *testing.T) {
	tests := []struct {
		code   int
		reason metav1.StatusReason
		is     func(error) bool
	}{
		{http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, apierrors.IsTooManyRequests},
		{http.StatusConflict, metav1.StatusReasonConflict, apierrors.IsConflict},
		{http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, apierrors.IsInvalid},
		{http.StatusForbidden, metav1.StatusReasonForbidden, apierrors.IsForbidden},
		{http.StatusInternalServerError, metav1.StatusReasonInternalError, apierrors.IsInternalError},
		{http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, apierrors.IsServiceUnavailable},
		{http.StatusGatewayTimeout, metav1.StatusReasonTimeout, apierrors.IsTimeout},
	}
	for encoding, contentType := range encodings {
		for _, test := range tests {
			t.Run(encoding+"/"+string(test.reason), func(t *testing.T) {
				t.Parallel()
				p := newServer(t).start()
				p.Inject(proxy.Fault{Action: proxy.Status(test.code, test.reason, "these words", 0)})
				err := create(t, newClient(t, p, contentType))
				var told apierrors.APIStatus
				if !test.is(err) || !errors.As(err, &told) {
					t.Fatalf("the client is told %#v", err)
				}
				if status := told.Status(); status.Message != "these words" || int(status.Code) != test.code {
					t.Errorf("the client is told %+v", status)
				}
			})
		}
	}
}

// TestStatusOfDiscovery tells that discovery, which accepts lists of APIs alone, is told the error as well.
func TestStatusOfDiscovery(t *testing.T) {
	p := newServer(t).start()
	p.Inject(proxy.Fault{Action: proxy.Status(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "too late", 0)})
	if _, err := newClient(t, p, encodings["JSON"]).Discovery().ServerGroups(); !apierrors.IsTimeout(err) {
		t.Errorf("the client is told %v", err)
	}
}

// TestStatusStrikesSeveralAtOnce tells that requests that are struck at once do not disturb each other.
func TestStatusStrikesSeveralAtOnce(t *testing.T) {
	p := newServer(t).start()
	conflict := proxy.Status(http.StatusConflict, metav1.StatusReasonConflict, "busy", 0)
	injection := p.Inject(proxy.Fault{Times: -1, Action: conflict})
	c := newClient(t, p, encodings["protobuf"])
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			if err := create(t, c); !apierrors.IsConflict(err) {
				t.Errorf("the client is told %v", err)
			}
		})
	}
	clients.Wait()
	if fired := injection.Fired(); fired != 20 {
		t.Errorf("fired %d times", fired)
	}
}

// TestStatusWithRetryAfter tells that client-go obeys Retry-After: it waits and asks again by itself.
func TestStatusWithRetryAfter(t *testing.T) {
	s := newServer(t)
	p := s.start()
	p.Inject(proxy.Fault{Action: proxy.Status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "slow down", 1)})
	if err := create(t, newClient(t, p, encodings["JSON"])); err != nil {
		t.Fatal(err)
	}
	requests := p.Requests()
	if len(requests) != 2 || requests[1].At.Sub(requests[0].At) < time.Second || len(s.requests()) != 1 {
		t.Errorf("the client asked %+v", requests)
	}
}
