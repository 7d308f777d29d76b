// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"
)

var watched = []schema.GroupVersionKind{
	{Group: "route.openshift.io", Version: "v1", Kind: "Route"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"},
}

// apis is a discovery document with the groups, each with one version v1 and one kind;
// a group with the kind "stale" is of an aggregated API server that does not answer.
func apis(kinds map[string]string) apidiscoveryv2.APIGroupDiscoveryList {
	list := apidiscoveryv2.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"}}
	for group, kind := range kinds {
		version := apidiscoveryv2.APIVersionDiscovery{Version: "v1", Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent, Resources: []apidiscoveryv2.APIResourceDiscovery{{
			Resource: strings.ToLower(kind) + "s", ResponseKind: &metav1.GroupVersionKind{Group: group, Version: "v1", Kind: kind}, Verbs: used,
		}}}
		if kind == "stale" {
			version.Freshness, version.Resources = apidiscoveryv2.DiscoveryFreshnessStale, nil
		}
		list.Items = append(list.Items, apidiscoveryv2.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: group}, Versions: []apidiscoveryv2.APIVersionDiscovery{version},
		})
	}
	return list
}

func TestPresenceIsReadFromTheDocument(t *testing.T) {
	content, err := json.Marshal(apis(map[string]string{
		"route.openshift.io": "stale", "gateway.networking.k8s.io": "HTTPRoute", "security.openshift.io": "stale", "monitoring.coreos.com": "PodMonitor",
	}))
	if err != nil {
		t.Fatal(err)
	}
	d, err := parse(content, discovery.AcceptV2)
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[schema.GroupVersionKind]presence{
		watched[0]: unknown,
		watched[1]: present,
		{Group: "gateway.networking.k8s.io", Version: "v1beta1", Kind: "HTTPRoute"}: absent,
		{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}:     absent,
		{Group: "example.com", Version: "v1", Kind: "Route"}:                        absent,
	} {
		if got := d.presenceOf(kind); got != want {
			t.Errorf("%s is %d, want %d", kind, got, want)
		}
	}
	// The group is named also while what serves its resources does not answer.
	if !d.groups[openShiftGroup] {
		t.Error("an OpenShift is not seen")
	}
}

// The definition of a custom resource that is being deleted is still listed.
func TestAKindOfWhichNothingCanBeMadeIsAbsent(t *testing.T) {
	list := apis(map[string]string{"gateway.networking.k8s.io": "HTTPRoute"})
	list.Items[0].Versions[0].Resources[0].Verbs = []string{"delete", "deletecollection", "get", "list", "watch"}
	content, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	d, err := parse(content, discovery.AcceptV2)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.presenceOf(watched[1]); got != absent {
		t.Errorf("it is %d, want %d", got, absent)
	}
}

func TestAnAnswerThatListsNoAPIsIsAnError(t *testing.T) {
	for name, test := range map[string]struct{ body, contentType string }{
		"another document":   {`{"kind":"APIGroupList","groups":[]}`, "application/json"},
		"no document":        {`<html>`, discovery.AcceptV2},
		"an empty document":  {`{"items":[]}`, discovery.AcceptV2},
		"no type of content": {`{}`, ";;"},
	} {
		if _, err := parse([]byte(test.body), test.contentType); err == nil {
			t.Errorf("%s counts as an answer", name)
		}
	}
}

func TestAFailedLookChangesNothing(t *testing.T) {
	type answer struct {
		kinds map[string]string
		err   error
	}
	answers := []answer{
		{err: errors.New("connection refused")},
		{kinds: map[string]string{"apps": "Deployment", "route.openshift.io": "Route", "security.openshift.io": "x"}},
		{err: errors.New("timeout")},
		{kinds: map[string]string{"apps": "Deployment", "route.openshift.io": "stale"}},
		{kinds: map[string]string{"apps": "Deployment", "route.openshift.io": "Route", "gateway.networking.k8s.io": "HTTPRoute"}},
		{kinds: map[string]string{"apps": "Deployment"}},
	}
	w := newWatcher(watched, func(context.Context) (document, error) {
		next := answers[0]
		answers = answers[1:]
		if next.err != nil {
			return document{}, next.err
		}
		content, err := json.Marshal(apis(next.kinds))
		if err != nil {
			return document{}, err
		}
		return parse(content, discovery.AcceptV2)
	}, time.Minute, nil, testingclock.NewFakeClock(time.Now()))
	var told []Facts
	look := func() {
		w.look(t.Context(), func(_ context.Context, f Facts) { told = append(told, f) })
	}
	look()
	if _, known := w.Facts(); known {
		t.Error("after a failure alone something is known")
	}
	for len(answers) > 0 {
		look()
	}
	want := []Facts{
		facts(true, map[string]bool{"Route": true, "HTTPRoute": false}),
		facts(true, map[string]bool{"Route": true, "HTTPRoute": true}),
		facts(true, map[string]bool{"Route": false, "HTTPRoute": false}),
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told is (-want +got):\n%s", diff)
	}
}

func TestOnePeriodTakesOneRequest(t *testing.T) {
	var requests atomic.Int32
	paths := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		paths <- r.URL.Path
		w.Header().Set("Content-Type", discovery.AcceptV2)
		if err := json.NewEncoder(w).Encode(apis(map[string]string{"apps": "Deployment"})); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	w, err := NewWatcher(config, http.DefaultClient, watched, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	clock := testingclock.NewFakeClock(time.Now())
	w.clock = clock // Doubts, of which there are none here, keep the real one.
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Run(ctx, func(context.Context, Facts) {})
	}()
	for n := int32(1); n <= 5; n++ {
		if path := <-paths; path != "/apis" {
			t.Errorf("request %d is for %s", n, path)
		}
		for !clock.HasWaiters() {
			time.Sleep(time.Millisecond)
		}
		clock.Step(time.Minute - time.Second)
		time.Sleep(20 * time.Millisecond)
		if got := requests.Load(); got != n {
			t.Fatalf("%d requests before the end of period %d", got, n)
		}
		clock.Step(time.Second)
	}
	cancel()
	<-ended
}

// doubted runs a watcher that finds nothing, until the test ends. It returns its requests,
// of which the first is made already.
func doubted(t *testing.T, clock *testingclock.FakeClock) (*Watcher, <-chan struct{}) {
	t.Helper()
	requests := make(chan struct{}, 100)
	w := newWatcher(watched, func(context.Context) (document, error) {
		requests <- struct{}{}
		return document{}, nil
	}, time.Hour, make(Doubts), clock)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Run(ctx, func(context.Context, Facts) {})
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	<-requests
	return w, requests
}

// Many turns find out at once that an API is gone.
func TestOneRequestSettlesAllDoubts(t *testing.T) {
	clock := testingclock.NewFakeClock(time.Now())
	w, requests := doubted(t, clock)
	var settled []chan struct{}
	for range 3 {
		next := make(chan struct{})
		w.doubts <- next
		settled = append(settled, next)
	}
	select {
	case <-requests:
		t.Error("a doubt is settled before others may join it")
	default:
	}
	clock.Step(doubtPeriod)
	<-requests
	for _, s := range settled {
		<-s
	}
	if n := len(requests); n != 0 {
		t.Errorf("three doubts took %d more requests", n)
	}
}

// An API that is listed and yet not there is doubted by every turn that needs it.
func TestDoubtsTakeFewRequests(t *testing.T) {
	clock := testingclock.NewFakeClock(time.Now())
	w, requests := doubted(t, clock)
	raise := func() {
		settled := make(chan struct{})
		w.doubts <- settled
		for {
			select {
			case <-settled:
				return
			case <-time.After(time.Millisecond):
				// Without anybody who waits for it, the clock of the refill stands.
				if clock.HasWaiters() {
					clock.Step(doubtPeriod)
				}
			}
		}
	}
	const doubts = 100
	start := clock.Now()
	for range doubts {
		raise()
	}
	most := doubtBurst + int(clock.Since(start).Seconds()*doubtRate) + 1
	if n := len(requests); n < doubtBurst || n > most {
		t.Errorf("%d doubts took %d requests, want %d to %d", doubts, n, doubtBurst, most)
	}
}

func TestADoubtEndsWithItsContextOrWithoutAWatcher(t *testing.T) {
	Doubts(nil).Raise(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	make(Doubts).Raise(ctx)
	raised := make(Doubts)
	ended := make(chan struct{})
	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		raised.Raise(ctx)
	}()
	<-raised
	cancel()
	<-ended
}
