// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"platformapp/test/fault/proxy"
)

// TestRefuse tells that a refusing Proxy looks like a server that is down, and works again at the same address.
func TestRefuse(t *testing.T) {
	p := newServer(t).start()
	c := newClient(t, p, encodings["JSON"])
	if err := create(t, c); err != nil {
		t.Fatal(err)
	}
	p.Refuse()
	if err := create(t, c); !utilnet.IsConnectionRefused(err) {
		t.Errorf("the client is told %v", err)
	}
	if err := p.Accept(); err != nil {
		t.Fatal(err)
	}
	if err := create(t, c); err != nil {
		t.Error(err)
	}
	p.Close()
	if err := p.Accept(); err == nil {
		t.Error("a closed Proxy accepts again")
	}
}

// TestUpstreamDown tells that a request is reset whose API server cannot be reached.
func TestUpstreamDown(t *testing.T) {
	s := newServer(t)
	p := s.start()
	s.Close()
	if err := create(t, newClient(t, p, encodings["JSON"])); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client is told %v", err)
	}
	if request := p.Requests()[0]; request.Code != 0 || request.Fault != "" {
		t.Errorf("entered as %+v", request)
	}
}

// TestSetUpstream tells that reads and writes can go to different API servers.
func TestSetUpstream(t *testing.T) {
	present, past := newServer(t), newServer(t)
	p := present.start()
	c := newClient(t, p, encodings["JSON"])
	if err := p.SetUpstream(past.config(), present.config()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().ConfigMaps("team").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := create(t, c); err != nil {
		t.Fatal(err)
	}
	if got, want := present.requests(), []string{"POST /api/v1/namespaces/team/configmaps"}; !slices.Equal(got, want) {
		t.Errorf("writes went as %q", got)
	}
	if got, want := past.requests(), []string{"GET /api/v1/namespaces/team/configmaps"}; !slices.Equal(got, want) {
		t.Errorf("reads went as %q", got)
	}
}

// TestCloseEndsEverything tells that Close does not wait for what is held.
func TestCloseEndsEverything(t *testing.T) {
	s := newServer(t)
	p := s.start()
	c := newClient(t, p, encodings["JSON"])
	p.Inject(proxy.Fault{Match: proxy.Matches(creates), Action: proxy.Hang(time.Hour)})
	failed := make(chan struct{})
	go func() {
		defer close(failed)
		if err := create(t, c); !utilnet.IsConnectionReset(err) {
			t.Errorf("the client is told %v", err)
		}
	}()
	eventually(t, "the request is held", func() bool { return p.Count() == 1 })
	p.Close()
	within(t, "the request has failed", failed)
}
