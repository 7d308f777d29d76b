// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"

	"platformapp/test/fault/proxy"
)

const creates = "create configmaps"

// TestActions lets each action strike one create: what the client is told, whether the API server was asked, and what is
// entered. The create before and the one after it pass.
func TestActions(t *testing.T) {
	tests := []struct {
		action  proxy.Action
		told    func(error) bool
		carried bool
		code    int
	}{
		{proxy.Status(http.StatusConflict, metav1.StatusReasonConflict, "changed", 0), apierrors.IsConflict, false, 409},
		{proxy.Reset(), utilnet.IsConnectionReset, false, 0},
		{proxy.ResetAfter(), utilnet.IsConnectionReset, true, 200},
		{proxy.Hang(time.Millisecond), utilnet.IsConnectionReset, false, 0},
		{proxy.HangAfter(time.Millisecond), utilnet.IsConnectionReset, true, 200},
		{proxy.Delay(time.Millisecond), isNil, true, 200},
		{proxy.Before(func() {}), isNil, true, 200},
		{proxy.Instead(func() {}), utilnet.IsConnectionReset, false, 0},
		{proxy.After(func() {}), isNil, true, 200},
	}
	for transport, opts := range map[string][]proxy.Option{"HTTP": nil, "TLS": {proxy.WithTLS()}} {
		for encoding, contentType := range encodings {
			for _, test := range tests {
				t.Run(transport+"/"+encoding+"/"+test.action.String(), func(t *testing.T) {
					t.Parallel()
					s := newServer(t)
					p := s.start(opts...)
					c := newClient(t, p, contentType)
					injection := p.Inject(proxy.Fault{Match: proxy.Matches(creates), Skip: 1, Action: test.action})
					for i := range 3 {
						err := create(t, c)
						if isStruck := i == 1; isStruck && !test.told(err) || !isStruck && err != nil {
							t.Errorf("create %d: %v", i, err)
						}
					}
					within(t, "the action is done", injection.Done())
					if asked := len(s.requests()); asked != 2 && !test.carried || asked != 3 && test.carried {
						t.Errorf("the API server was asked %d times", asked)
					}
					struck := p.Requests()[1]
					if struck.Fault != test.action.String() || struck.Code != test.code || injection.Fired() != 1 {
						t.Errorf("entered as %+v, fired %d times", struck, injection.Fired())
					}
				})
			}
		}
	}
}

func isNil(err error) bool { return err == nil }

// TestFunctionsOfActions tells what the API server has seen when the function of an action runs, and that the client waits
// for it.
func TestFunctionsOfActions(t *testing.T) {
	for name, test := range map[string]struct {
		action        func(func()) proxy.Action
		before, after int // requests that the API server has seen when the function runs, and in the end
	}{
		"before":  {proxy.Before, 0, 1},
		"instead": {proxy.Instead, 0, 0},
		"after":   {proxy.After, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			p := s.start()
			var seen, entered int
			var isAnswered bool
			injection := p.Inject(proxy.Fault{Action: test.action(func() {
				seen, entered, isAnswered = len(s.requests()), p.Count(), p.Requests()[0].Code != 0
			})})
			_ = create(t, newClient(t, p, encodings["JSON"]))
			within(t, "the action is done", injection.Done())
			if finally := len(s.requests()); seen != test.before || finally != test.after {
				t.Errorf("the API server saw %d requests then, %d in the end", seen, finally)
			}
			if entered != 1 || isAnswered != (test.before > 0) {
				t.Errorf("%d requests were entered then, answered: %t", entered, isAnswered)
			}
		})
	}
}

// TestAfterDoesNotNeedTheClient lets the client go while the API server works on its request: the function of After still
// runs when the work is done, and not before.
func TestAfterDoesNotNeedTheClient(t *testing.T) {
	s := newServer(t)
	s.slow = make(chan struct{})
	p := s.start()
	var codes []int
	injection := p.Inject(proxy.Fault{Action: proxy.After(func() { codes = append(codes, p.Requests()[0].Code) })})
	config := p.Config()
	config.Timeout = 50 * time.Millisecond
	impatient, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := create(t, impatient); !utilnet.IsTimeout(err) {
		t.Fatalf("the client is told %v", err)
	}
	select {
	case <-injection.Done():
		t.Fatal("the function ran before the API server had answered")
	default:
	}
	close(s.slow)
	within(t, "the function runs", injection.Done())
	if !slices.Equal(codes, []int{http.StatusOK}) {
		t.Errorf("the function saw the codes %v", codes)
	}
}
