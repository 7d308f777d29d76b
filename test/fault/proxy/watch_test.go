// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"platformapp/test/fault/proxy"
)

// TestWatchPasses tells that events are delivered as they come, and that the API server learns that the client has left.
func TestWatchPasses(t *testing.T) {
	forEachEncoding(t, func(s *scene) {
		for i := range 3 {
			s.send(1)
			s.expect(fmt.Sprint(i + 1))
		}
		if open := s.proxy.Watching(proxy.Matches(watches)); len(open) != 1 || open[0].Namespace != "team" {
			s.Errorf("open are %+v", open)
		}
		s.stop()
		eventually(s.T, "the watch ends", func() bool {
			_, ended := s.server.watches()
			return ended == 1 && len(s.proxy.Watching(proxy.Any)) == 0
		})
	})
}

// TestFreezeAndRelease tells that what is kept back is delivered in order, and what follows as well.
func TestFreezeAndRelease(t *testing.T) {
	forEachEncoding(t, func(s *scene) {
		s.send(1)
		s.expect("1")
		other := s.proxy.FreezeWatches(proxy.Matches("watch pods"))
		hold := s.proxy.FreezeWatches(proxy.Matches(watches))
		s.send(2)
		s.bookmark(false)
		s.keeps(hold, 3)
		s.expectNone()
		if kept := other.Kept(); kept != 0 {
			s.Errorf("a hold of other watches keeps %d", kept)
		}
		hold.Release()
		s.expect("2", "3", "BOOKMARK")
		s.send(1)
		s.expect("4")
	})
}

// TestFreezeBeforeTheWatch tells that a watch that begins while its kind is frozen is frozen.
func TestFreezeBeforeTheWatch(t *testing.T) {
	forEachEncodingFrozen(t, metav1.ListOptions{}, nil, func(s *scene, hold *proxy.Hold) {
		s.send(2)
		s.keeps(hold, 2)
		s.expectNone()
		hold.Release()
		s.expect("1", "2")
	})
}

// initial asks for a watch that begins with what a list would answer.
var initial = metav1.ListOptions{
	SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
}

// TestFreezeLetsInitialEventsPass tells that a client that starts anew gets its first view, and no more.
func TestFreezeLetsInitialEventsPass(t *testing.T) {
	forEachEncodingFrozen(t, initial, nil, func(s *scene, hold *proxy.Hold) {
		s.send(2)
		s.bookmark(false)
		s.bookmark(true)
		s.send(1)
		s.expect("1", "2", "BOOKMARK", "BOOKMARK")
		s.keeps(hold, 1)
		s.expectNone()
		hold.Release()
		s.expect("3")
		if first := s.proxy.Requests()[0]; !first.IsList() {
			s.Errorf("no list: %+v", first)
		}
	})
}

// TestFreezeWithLists tells that a client that starts anew waits, with a watch and with a list.
func TestFreezeWithLists(t *testing.T) {
	forEachEncodingFrozen(t, initial, []proxy.HoldOption{proxy.WithLists()}, func(s *scene, hold *proxy.Hold) {
		listed := make(chan struct{})
		go func() {
			defer close(listed)
			if _, err := s.client.CoreV1().ConfigMaps("team").List(s.Context(), metav1.ListOptions{}); err != nil {
				s.Error(err)
			}
		}()
		s.send(1)
		s.bookmark(true)
		s.keeps(hold, 2)
		eventually(s.T, "the list has arrived", func() bool { return s.proxy.Count() == 2 })
		s.expectNone()
		if asked := s.server.requests(); len(asked) != 1 {
			s.Errorf("the API server was asked %q", asked)
		}
		hold.Release()
		s.expect("1", "BOOKMARK")
		within(s.T, "the list is answered", listed)
	})
}

// TestDrop tells that what was kept back is lost, and that the client is told so.
func TestDrop(t *testing.T) {
	forEachEncoding(t, func(s *scene) {
		hold := s.proxy.FreezeWatches(proxy.Any)
		s.send(3)
		s.keeps(hold, 3)
		hold.Drop()
		s.expect("410 Expired", "end")
		s.watch(metav1.ListOptions{})
		s.send(1)
		s.expect("4")
	})
}

// TestClientLeavesFrozenWatch tells that a frozen watch ends with its client.
func TestClientLeavesFrozenWatch(t *testing.T) {
	forEachEncoding(t, func(s *scene) {
		hold := s.proxy.FreezeWatches(proxy.Any)
		s.send(1)
		s.keeps(hold, 1)
		s.stop()
		eventually(s.T, "the watch ends", func() bool {
			_, ended := s.server.watches()
			return ended == 1 && len(s.proxy.Watching(proxy.Any)) == 0
		})
	})
}

// TestCut tells that the watches that match break, also while they are frozen, and that others do not.
func TestCut(t *testing.T) {
	forEachEncoding(t, func(s *scene) {
		if cut := s.proxy.CutWatches(proxy.Matches("watch pods")); cut != 0 {
			s.Errorf("%d watches of another kind are cut", cut)
		}
		s.send(1)
		s.expect("1")
		hold := s.proxy.FreezeWatches(proxy.Any)
		s.send(1)
		s.keeps(hold, 1)
		if cut := s.proxy.CutWatches(proxy.Matches(watches)); cut != 1 {
			s.Errorf("%d watches are cut", cut)
		}
		s.expect("end")
		eventually(s.T, "the watch ends", func() bool {
			_, ended := s.server.watches()
			return ended == 1
		})
	})
}

// TestEnd tells that a watch ends in order, after what was sent.
func TestEnd(t *testing.T) {
	forEachEncoding(t, func(s *scene) {
		s.send(1)
		s.expect("1")
		if ended := s.proxy.EndWatches(proxy.Any); ended != 1 {
			s.Errorf("%d watches are ended", ended)
		}
		s.expect("end")
	})
}

// TestDelay tells that events come later and in order, and at once when the delay is removed.
func TestDelay(t *testing.T) {
	const delay = 300 * time.Millisecond
	forEachEncoding(t, func(s *scene) {
		rule := s.proxy.DelayWatches(proxy.Any, delay)
		begin := time.Now()
		s.send(3)
		s.expect("1", "2", "3")
		if took := time.Since(begin); took < delay {
			s.Errorf("the events took %s", took)
		}
		if fired := rule.Fired(); fired != 3 {
			s.Errorf("%d events were delayed", fired)
		}
		s.proxy.DelayWatches(proxy.Any, time.Hour).Remove()
		rule.Remove()
		long := s.proxy.DelayWatches(proxy.Any, time.Hour)
		s.send(2)
		s.expectNone()
		long.Remove()
		s.expect("4", "5")
	})
}

// TestDuplicate tells that events are repeated in a row, and bookmarks are not.
func TestDuplicate(t *testing.T) {
	forEachEncoding(t, func(s *scene) {
		rule := s.proxy.DuplicateWatches(proxy.Any, 3)
		s.send(2)
		s.bookmark(false)
		s.expect("1", "1", "1", "2", "2", "2", "BOOKMARK")
		rule.Remove()
		s.send(2)
		s.expect("3", "4")
		if fired := rule.Fired(); fired != 2 {
			s.Errorf("%d events were repeated", fired)
		}
	})
}

// TestSetUpstreamCutsWatches tells that no watch goes on at the API server that was.
func TestSetUpstreamCutsWatches(t *testing.T) {
	forEachEncoding(t, func(s *scene) {
		past := newServer(s.T)
		if err := s.proxy.SetUpstream(past.config(), s.server.config()); err != nil {
			s.Fatal(err)
		}
		s.expect("end")
		s.watch(metav1.ListOptions{})
		past.send(watch.Added, configMap("of-the-past"))
		s.expect("of-the-past")
	})
}

// TestFaultsOfWatches tells that actions strike watches too; of After the begin of the watch is awaited.
func TestFaultsOfWatches(t *testing.T) {
	var ran int
	s := newServer(t)
	p := s.start()
	injection := p.Inject(proxy.Fault{Match: proxy.Matches(watches), Action: proxy.After(func() { ran = len(p.Requests()) })})
	expired := proxy.Status(http.StatusGone, metav1.StatusReasonExpired, "too old", 0)
	p.Inject(proxy.Fault{Match: proxy.Matches(watches), Action: expired})
	c := newClient(t, p, encodings["protobuf"])
	w, err := c.CoreV1().ConfigMaps("team").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	within(t, "the function has run", injection.Done())
	if ran != 1 {
		t.Errorf("the function saw %d requests", ran)
	}
	s.send(watch.Added, configMap("app"))
	if event := <-w.ResultChan(); event.Type != watch.Added {
		t.Errorf("the client got %v", event)
	}
	if _, err := c.CoreV1().ConfigMaps("team").Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
		t.Errorf("the client is told %v", err)
	}
}

// TestResetOfSharedConnection tells that over HTTP/2 a reset hits the watches of the client too, and over HTTP/1.1 it does
// not.
func TestResetOfSharedConnection(t *testing.T) {
	for transport, opts := range map[string][]proxy.Option{"HTTP": nil, "TLS": {proxy.WithTLS()}} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			s := &scene{T: t, server: newServer(t)}
			s.proxy = s.server.start(opts...)
			s.client = newClient(t, s.proxy, encodings["protobuf"])
			s.watch(metav1.ListOptions{})
			s.proxy.Inject(proxy.Fault{Match: proxy.Matches(creates), Action: proxy.Reset()})
			if err := create(t, s.client); err == nil {
				t.Error("the create is not reset")
			}
			if transport == "TLS" {
				s.expect("end")
				return
			}
			s.send(1)
			s.expect("1")
		})
	}
}
