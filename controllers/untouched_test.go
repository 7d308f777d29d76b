// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// untouched finds out whether somebody changes what a cache holds: the operator reads it without copies, so that such a
// change would be taken for the state of the cluster by everybody who reads it later.
type untouched struct {
	mu sync.Mutex
	// held are the objects of the cache, with a copy as they came.
	held map[client.Object]client.Object
}

// watchUntouched makes the cache with these options tell what it holds.
func watchUntouched(t testing.TB, options *cache.Options) *untouched {
	t.Helper()
	u := &untouched{held: map[client.Object]client.Object{}}
	newInformer := options.NewInformer
	if newInformer == nil {
		newInformer = toolscache.NewSharedIndexInformer
	}
	options.NewInformer = func(
		source toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		informer := newInformer(source, object, resync, indexers)
		_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    u.keep,
			UpdateFunc: func(_, object any) { u.keep(object) },
		})
		if err != nil {
			t.Error(err)
		}
		return informer
	}
	return u
}

func (u *untouched) keep(object any) {
	held, ok := object.(client.Object)
	if !ok {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.held[held] = held.DeepCopyObject().(client.Object)
}

// check fails the test for each object that is not as it came.
func (u *untouched) check(t testing.TB) {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	for held, asItCame := range u.held {
		if diff := cmp.Diff(asItCame, held); diff != "" {
			t.Errorf("%T %s was changed in the cache (-as it came +as it is):\n%s", held, held.GetName(), diff)
		}
	}
}

func TestAChangeOfWhatTheCacheHoldsIsFound(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	l.running(ordersApp())
	seen := l.deploymentInTheCache("orders")
	seen.Labels["changed"] = "yes"
	found := &failures{TB: t}
	l.untouched.check(found)
	delete(seen.Labels, "changed")
	if found.n != 1 {
		t.Errorf("a changed label makes %d failures", found.n)
	}
}

// failures counts the failures of a test in place of it.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Errorf(string, ...any) { f.n++ }
