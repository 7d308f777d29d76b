// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
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
	awaited map[fenceKey]string
}

type fenceKey struct {
	kind string
	name types.NamespacedName
}

// NewFence returns a fence that awaits nothing.
func NewFence() *Fence { return &Fence{awaited: map[fenceKey]string{}} }

// Expect makes reads of an object wait for a resource version.
func (f *Fence) Expect(kind string, name types.NamespacedName, resourceVersion string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaited[fenceKey{kind, name}] = resourceVersion
}

// Forget drops what is awaited of an object.
func (f *Fence) Forget(kind string, name types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.awaited, fenceKey{kind, name})
}

func (f *Fence) version(kind string, name types.NamespacedName) (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	version, ok := f.awaited[fenceKey{kind, name}]
	return version, ok
}

// Get reads an object of a kind, from the cache if that shows the operator's last write
// of it, and else from the API server.
func (r Reader) Get(ctx context.Context, kind string, name types.NamespacedName, object client.Object) error {
	version, ok := r.Fence.version(kind, name)
	if !ok {
		return r.Cache.Get(ctx, name, object)
	}
	err := wait.PollUntilContextTimeout(ctx, fencePoll, fenceTimeout, true, func(ctx context.Context) (bool, error) {
		if err := r.Cache.Get(ctx, name, object); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), version)
		return order >= 0, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		err = r.Live.Get(ctx, name, object)
	}
	if err == nil || apierrors.IsNotFound(err) {
		r.Fence.Forget(kind, name)
	}
	return err
}
