// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
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
		renew(http.StatusConflict)
		passes("after a renewal that failed", http.MethodPatch, deployments, false)
		renew(http.StatusOK)
		passes("after a renewal", http.MethodPatch, deployments, true)
	})
}

// What a request is about is told by the group of its API: no namespace and no object can be called by a name that makes of
// it something else.
func TestNoNameOpensTheFence(t *testing.T) {
	for _, test := range []struct {
		method, path string
		want         subject
	}{
		{http.MethodPut, leasePath, ofTheLease},
		{http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/a/leases", ofTheLease},
		{http.MethodGet, leasePath, ofNoInterest},
		{http.MethodPost, "/api/v1/namespaces/a/events", ofNoInterest},
		{http.MethodPatch, "/api/v1/namespaces/a/events/b", ofNoInterest},
		{http.MethodPost, "/apis/events.k8s.io/v1/namespaces/a/events", ofNoInterest},
		{http.MethodPatch, "/apis/events.k8s.io/v1/namespaces/a/events/b", ofNoInterest},
		{http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews", ofNoInterest},
		{http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", ofNoInterest},
		{http.MethodGet, "/apis/apps/v1/namespaces/a/deployments/b", ofNoInterest},

		{http.MethodPatch, "/apis/apps/v1/namespaces/a/deployments/b", ofApplications},
		{http.MethodPatch, "/api/v1/namespaces/a/services/b", ofApplications},
		{http.MethodPatch, "/apis/egplatform.platform.evillgenius.com/v1alpha1/namespaces/a/egapps/b/status", ofApplications},
		{http.MethodDelete, "/api/v1/namespaces/events", ofApplications},
		{http.MethodPatch, "/api/v1/events", ofApplications},
		{http.MethodPatch, "/api/v1/namespaces/a/services/b/events", ofApplications},
		{http.MethodPatch, "/api/v1/namespaces/a/services/events/status", ofApplications},
		{http.MethodPost, "/", ofApplications},
		{http.MethodPost, "/apis", ofApplications},
	} {
		for _, base := range []string{"", "/k8s/clusters/c", "/api/v1/namespaces/a/events", "/apis/coordination.k8s.io"} {
			f := &leaseFence{basePath: base}
			request := httptest.NewRequestWithContext(t.Context(), test.method, "https://server"+base+test.path, http.NoBody)
			if got := f.subjectOf(request); got != test.want {
				t.Errorf("%s %s at %q is %d, want %d", test.method, test.path, base, got, test.want)
			}
		}
	}
	for _, name := range []string{
		"leases", "events", "apis", "api", "tokenreviews", "subjectaccessreviews",
		"coordination.k8s.io", "events.k8s.io", "authentication.k8s.io",
	} {
		for _, path := range []string{
			"/apis/apps/v1/namespaces/" + name + "/deployments/orders", "/apis/apps/v1/namespaces/a/deployments/" + name,
			"/api/v1/namespaces/" + name + "/services/orders", "/api/v1/namespaces/a/services/" + name,
			"/api/v1/namespaces/" + name + "/services/" + name,
			"/apis/devops.my.domain/v1/namespaces/" + name + "/demomicroservices/" + name + "/status",
		} {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPatch, "https://server"+path, http.NoBody)
			if got := new(leaseFence).subjectOf(request); got != ofApplications {
				t.Errorf("%s is %d, want %d", path, got, ofApplications)
			}
		}
	}
}

// The path that an API server behind a proxy has before those of its APIs.
func TestTheFenceKnowsWhereTheAPIServerIs(t *testing.T) {
	for host, want := range map[string]string{
		"https://10.0.0.1:6443":                  "",
		"https://10.0.0.1:6443/":                 "",
		"10.0.0.1":                               "",
		"https://proxy.example.com/k8s/api/c-1":  "/k8s/api/c-1",
		"https://proxy.example.com/k8s/api/c-1/": "/k8s/api/c-1",
	} {
		f, err := newLeaseFence(&rest.Config{Host: host})
		if err != nil {
			t.Fatal(err)
		}
		if f.basePath != want {
			t.Errorf("%s has the base %q, want %q", host, f.basePath, want)
		}
	}
	if _, err := newLeaseFence(&rest.Config{Host: "http://a b"}); err == nil {
		t.Error("a fence is made for a host that is none")
	}
}

// When the lease is given back another operator takes it within a second, whatever this one has yet to end.
func TestALeaseThatIsGivenBackHoldsNoLonger(t *testing.T) {
	for name, test := range map[string]struct {
		holder *string
		want   bool
	}{
		"it is kept":              {new("me"), false},
		"it is given back":        {new(""), true},
		"it is given back, unset": {nil, true},
	} {
		for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
			t.Run(name+" as "+mediaType, func(t *testing.T) {
				lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: test.holder}}
				info, ok := runtime.SerializerInfoForMediaType(clientgoscheme.Codecs.SupportedMediaTypes(), mediaType)
				if !ok {
					t.Fatal("no such encoding")
				}
				encoded, err := runtime.Encode(clientgoscheme.Codecs.EncoderForVersion(info.Serializer, coordinationv1.SchemeGroupVersion), lease)
				if err != nil {
					t.Fatal(err)
				}
				f := &leaseFence{duration: leaseDuration, now: time.Now}
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://server"+leasePath, bytes.NewReader(encoded))
				if err != nil {
					t.Fatal(err)
				}
				answer, err := f.Wrap(constantAnswer(http.StatusOK)).RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				_ = answer.Body.Close()
				if got := f.isRunOut(); got != test.want {
					t.Errorf("the lease has run out: %t, want %t", got, test.want)
				}
				if left, err := io.ReadAll(request.Body); err != nil || !bytes.Equal(left, encoded) {
					t.Errorf("what is sent is %q, %v", left, err)
				}
			})
		}
	}
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
