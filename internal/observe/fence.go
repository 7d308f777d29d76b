// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// fencePoll and fenceTimeout pace and bound the wait for the cache. After the timeout
	// the API server is asked.
	fencePoll    = 2 * time.Millisecond
	fenceTimeout = 100 * time.Millisecond
)

// Fence makes reads show the operator's own writes. Each write is told to it with the
// resource version that it led to; a read of that object waits until the cache has
// reached it. Unlike controller-runtime's read-your-writes it works with any number of
// cache namespaces, and an object that never comes into the cache, since somebody took
// the label away that the cache selects by, is read from the API server instead.
type Fence struct {
	mu      sync.Mutex
	awaited map[fenceKey]awaited
}

// awaited is what reads of an object wait for: a version and, unless that counts itself, a
// later one or that there is none.
type awaited struct {
	version string
	isEnd   bool
}

type fenceKey struct {
	kind string
	name types.NamespacedName
}

// NewFence returns a fence that awaits nothing.
func NewFence() *Fence { return &Fence{awaited: map[fenceKey]awaited{}} }

// Expect makes reads of an object wait for a resource version.
func (f *Fence) Expect(kind string, name types.NamespacedName, resourceVersion string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaited[fenceKey{kind, name}] = awaited{version: resourceVersion}
}

// ExpectEnd makes reads of an object wait until it is gone, or another version of the name
// than this one, its last, is there. What is awaited already says more, and stays.
func (f *Fence) ExpectEnd(kind string, name types.NamespacedName, resourceVersion string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, isAwaited := f.awaited[fenceKey{kind, name}]; !isAwaited {
		f.awaited[fenceKey{kind, name}] = awaited{version: resourceVersion, isEnd: true}
	}
}

// ExpectDeleted makes reads of an object wait until it is gone, or another version of the name than this one, its last, is
// there. What was awaited is of before its end.
func (f *Fence) ExpectDeleted(kind string, name types.NamespacedName, resourceVersion string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaited[fenceKey{kind, name}] = awaited{version: resourceVersion, isEnd: true}
}

// Forget drops what is awaited of an object.
func (f *Fence) Forget(kind string, name types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.awaited, fenceKey{kind, name})
}

func (f *Fence) of(kind string, name types.NamespacedName) (awaited, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.awaited[fenceKey{kind, name}]
	return a, ok
}

// isMet tells whether an object that was read is what is awaited.
func (a awaited) isMet(object client.Object) (bool, error) {
	order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), a.version)
	return order > 0 || (order == 0 && !a.isEnd), err
}

// Get reads an object of a kind, from the cache if that shows the operator's last write
// of it, and else from the API server. As long as the cache lags behind, what was read from
// the API server is awaited too: a read never shows less than the one before it. What the
// object points to is shared with the cache and must not be changed.
func (r Reader) Get(ctx context.Context, kind string, name types.NamespacedName, object client.Object) error {
	awaited, ok := r.Fence.of(kind, name)
	if !ok {
		return r.Cache.Get(ctx, name, object, client.UnsafeDisableDeepCopy)
	}
	isCached := false
	err := wait.PollUntilContextTimeout(ctx, fencePoll, fenceTimeout, true, func(ctx context.Context) (bool, error) {
		if err := r.Cache.Get(ctx, name, object, client.UnsafeDisableDeepCopy); err != nil {
			isCached = false
			if apierrors.IsNotFound(err) && !awaited.isEnd {
				return false, nil
			}
			return false, err
		}
		isCached = true
		return awaited.isMet(object)
	})
	// A cache that lags behind may show the end of a predecessor of the name first: an end stays awaited until another
	// version is there.
	if err == nil {
		r.Fence.Forget(kind, name)
	}
	if !wait.Interrupted(err) || ctx.Err() != nil {
		return err
	}
	// The answer is not read into what the cache holds.
	reflect.ValueOf(object).Elem().SetZero()
	err = r.Live.Get(ctx, name, object)
	switch {
	case err == nil:
		r.Fence.Expect(kind, name, object.GetResourceVersion())
	case apierrors.IsNotFound(err) && !isCached:
		r.Fence.Forget(kind, name)
	}
	return err
}
