// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// store is a reader that holds one Service, at a version, or none.
type store struct {
	client.Reader

	version string
	reads   int
}

func (s *store) Get(_ context.Context, name types.NamespacedName, object client.Object, _ ...client.GetOption) error {
	s.reads++
	if s.version == "" {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "services"}, name.Name)
	}
	object.SetResourceVersion(s.version)
	return nil
}

// A watch that lags behind must not take the operator back to before its own write, however often it looks: it would write
// what it has written already.
func TestReadsNeverGoBackToBeforeAWrite(t *testing.T) {
	name := types.NamespacedName{Namespace: "team-a", Name: "orders"}
	for _, test := range []struct {
		name        string
		cache, live string
		want        string
		// caughtUp is what the cache holds in the end, and read what is read then.
		caughtUp, read string
	}{
		{name: "the cache lags behind", cache: "5", live: "9", want: "9", caughtUp: "9", read: "9"},
		{name: "somebody else wrote meanwhile", cache: "5", live: "12", want: "12", caughtUp: "12", read: "12"},
		{name: "the cache lacks what was created", cache: "", live: "9", want: "9", caughtUp: "9", read: "9"},
		{name: "the cache still has what is gone", cache: "5", live: "", want: "", caughtUp: "", read: ""},
		{name: "it is gone", cache: "", live: "", want: "", caughtUp: "", read: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cache, live := &store{version: test.cache}, &store{version: test.live}
			r := Reader{Cache: cache, Live: live, Fence: NewFence()}
			r.Fence.Expect("Service", name, "9")
			read := func() string {
				service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{}}
				if err := r.Get(t.Context(), "Service", name, service); client.IgnoreNotFound(err) != nil {
					t.Fatal(err)
				}
				return service.ResourceVersion
			}
			for look := range 3 {
				if got := read(); got != test.want {
					t.Errorf("look %d reads version %q, want %q", look+1, got, test.want)
				}
			}
			cache.version = test.caughtUp
			if got := read(); got != test.read {
				t.Errorf("when the cache has caught up it reads version %q, want %q", got, test.read)
			}
			asked := live.reads
			if read(); live.reads != asked {
				t.Error("it asks the API server although the cache has caught up")
			}
		})
	}
}

// What was deleted must not be seen again by a watch that lags behind: the operator would delete it again.
func TestReadsDoNotShowWhatWasDeleted(t *testing.T) {
	name := types.NamespacedName{Namespace: "team-a", Name: "orders"}
	for _, test := range []struct {
		name        string
		cache, live string
		want        string
		// asks is how often the API server is asked in three looks.
		asks int
	}{
		{name: "the cache shows the end", cache: "", live: "", want: "", asks: 0},
		{name: "the cache shows the next of the name", cache: "9", live: "9", want: "9", asks: 0},
		{name: "the cache lags behind", cache: "5", live: "", want: "", asks: 3},
		{name: "the cache lags behind the next of the name", cache: "5", live: "9", want: "9", asks: 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			live := &store{version: test.live}
			r := Reader{Cache: &store{version: test.cache}, Live: live, Fence: NewFence()}
			// It was written, and deleted before that was seen.
			r.Fence.Expect("Service", name, "5")
			r.Fence.ExpectDeleted("Service", name, "5")
			for look := range 3 {
				service := &corev1.Service{}
				if err := r.Get(t.Context(), "Service", name, service); client.IgnoreNotFound(err) != nil {
					t.Fatal(err)
				}
				if service.ResourceVersion != test.want {
					t.Errorf("look %d reads version %q, want %q", look+1, service.ResourceVersion, test.want)
				}
			}
			if live.reads != test.asks {
				t.Errorf("the API server was asked %d times, want %d", live.reads, test.asks)
			}
		})
	}
}

// A cache that lags behind shows the end of a predecessor before it shows what has been deleted since.
func TestReadsDoNotTakeAnEarlierEndForTheLast(t *testing.T) {
	name := types.NamespacedName{Namespace: "team-a", Name: "orders"}
	cached := &store{}
	r := Reader{Cache: cached, Live: &store{}, Fence: NewFence()}
	r.Fence.ExpectDeleted("Service", name, "5")
	for _, cached.version = range []string{"3", "", "5", ""} {
		service := &corev1.Service{}
		if err := r.Get(t.Context(), "Service", name, service); client.IgnoreNotFound(err) != nil || service.ResourceVersion != "" {
			t.Errorf("with version %q in the cache, version %q is read, %v", cached.version, service.ResourceVersion, err)
		}
	}
}

// What a conflict tells to be of the past is not seen again; what is awaited says more, if it is younger.
func TestReadsDoNotShowWhatHasChanged(t *testing.T) {
	name := types.NamespacedName{Namespace: "team-a", Name: "orders"}
	for _, test := range []struct{ awaited, cache, live, want string }{
		{awaited: "", cache: "5", live: "9", want: "9"},
		{awaited: "", cache: "9", live: "9", want: "9"},
		// A child that lost its labels is in the cache no more, and there.
		{awaited: "5", cache: "", live: "9", want: "9"},
		{awaited: "7", cache: "6", live: "9", want: "9"},
	} {
		r := Reader{Cache: &store{version: test.cache}, Live: &store{version: test.live}, Fence: NewFence()}
		if test.awaited != "" {
			r.Fence.Expect("Service", name, test.awaited)
		}
		r.Fence.ExpectEnd("Service", name, "5")
		service := &corev1.Service{}
		if err := r.Get(t.Context(), "Service", name, service); err != nil || service.ResourceVersion != test.want {
			t.Errorf("%+v: version %q is read, %v", test, service.ResourceVersion, err)
		}
	}
}

// An application that the API server has no more is worked on no more, however long the cache still shows it: to forget it is
// not to look again as if nothing were known.
func TestAnApplicationThatIsGoneStaysGone(t *testing.T) {
	name := types.NamespacedName{Namespace: "team-a", Name: "orders"}
	cache, live := &store{version: "5"}, &store{}
	r := Reader{Cache: cache, Live: live, Fence: NewFence()}
	r.Fence.Expect("EGApp", name, "9")
	r.Fence.Expect("Deployment", name, "8")
	read := func() error { return r.Get(t.Context(), "EGApp", name, &corev1.Service{}) }
	for look := range 3 {
		if err := read(); !apierrors.IsNotFound(err) {
			t.Fatalf("look %d: %v, want that it is not found", look+1, err)
		}
		r.Forget(name)
	}
	if _, isAwaited := r.Fence.of("Deployment", name); isAwaited {
		t.Error("its Deployment is still waited for")
	}
	// The cache shows the end, too.
	cache.version = ""
	if err := read(); !apierrors.IsNotFound(err) {
		t.Errorf("in the end it is read: %v", err)
	}
	if _, isAwaited := r.Fence.of("EGApp", name); isAwaited {
		t.Error("it is remembered for ever")
	}
}
