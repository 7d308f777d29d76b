// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"platformapp/test/fault/proxy"
)

const watches = "watch configmaps"

// scene is a client that watches the ConfigMaps of an API server through a Proxy.
type scene struct {
	*testing.T
	server *server
	proxy  *proxy.Proxy
	client kubernetes.Interface
	events <-chan watch.Event
	stop   func()
	sent   int
}

// forEachEncoding runs the test with a watch in each encoding, over plain HTTP and over TLS.
func forEachEncoding(t *testing.T, test func(*scene)) {
	t.Helper()
	forEachClient(t, func(s *scene) {
		s.watch(metav1.ListOptions{})
		test(s)
	})
}

// forEachEncodingFrozen is forEachEncoding with a watch with these options that is kept back from its begin.
func forEachEncodingFrozen(
	t *testing.T, options metav1.ListOptions, opts []proxy.HoldOption, test func(*scene, *proxy.Hold),
) {
	t.Helper()
	forEachClient(t, func(s *scene) {
		hold := s.proxy.FreezeWatches(proxy.Any, opts...)
		s.watch(options)
		test(s, hold)
	})
}

// forEachClient runs the test with a client of each encoding, over plain HTTP and over TLS.
func forEachClient(t *testing.T, test func(*scene)) {
	t.Helper()
	for transport, opts := range map[string][]proxy.Option{"HTTP": nil, "TLS": {proxy.WithTLS()}} {
		for encoding, contentType := range encodings {
			t.Run(transport+"/"+encoding, func(t *testing.T) {
				t.Parallel()
				s := &scene{T: t, server: newServer(t)}
				s.proxy = s.server.start(opts...)
				s.client = newClient(t, s.proxy, contentType)
				test(s)
			})
		}
	}
}

// watch opens the watch.
func (s *scene) watch(options metav1.ListOptions) {
	s.Helper()
	w, err := s.client.CoreV1().ConfigMaps("team").Watch(s.Context(), options)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(w.Stop)
	s.events, s.stop = w.ResultChan(), w.Stop
}

// send lets so many ConfigMaps change at the API server: 1, 2, 3 and so on.
func (s *scene) send(events int) {
	s.Helper()
	for range events {
		s.sent++
		s.server.send(watch.Modified, configMap(fmt.Sprint(s.sent)))
	}
}

// bookmark lets the API server send a bookmark, the one after the initial events or another.
func (s *scene) bookmark(initial bool) {
	s.Helper()
	object := configMap("")
	if initial {
		object.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	s.server.send(watch.Bookmark, object)
}

// next returns the next event in a word: the name of the ConfigMap, BOOKMARK, the code of an ERROR, "end" at the end.
func (s *scene) next() string {
	s.Helper()
	select {
	case event, open := <-s.events:
		switch object := event.Object.(type) {
		case *corev1.ConfigMap:
			if event.Type == watch.Bookmark {
				return "BOOKMARK"
			}
			return object.Name
		case *metav1.Status:
			if err := apierrors.FromObject(object); apierrors.IsResourceExpired(err) {
				return fmt.Sprint(object.Code, " ", object.Reason)
			}
			if strings.Contains(object.Message, "unable to decode an event from the watch stream") {
				return s.next() // client-go tells of a connection that breaks while it reads, and ends
			}
		}
		if !open {
			return "end"
		}
		s.Fatalf("an unknown event %s %+v", event.Type, event.Object)
	case <-time.After(limit):
		s.Fatalf("no event in %s", limit)
	}
	return ""
}

// expect waits for these events.
func (s *scene) expect(want ...string) {
	s.Helper()
	var got []string
	for range want {
		got = append(got, s.next())
	}
	if !slices.Equal(got, want) {
		s.Errorf("the client got %q, want %q", got, want)
	}
}

// expectNone tells that nothing has been delivered.
func (s *scene) expectNone() {
	s.Helper()
	select {
	case event := <-s.events:
		s.Errorf("the client got %v", event)
	default:
	}
}

// keeps waits until so many frames are kept back.
func (s *scene) keeps(hold *proxy.Hold, frames int) {
	s.Helper()
	eventually(s.T, fmt.Sprintf("%d frames are kept", frames), func() bool { return hold.Kept() == frames })
}
