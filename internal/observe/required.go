// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"platformapp/internal/resources"
)

// NewCache returns what makes a manager's cache. It differs from that of controller-runtime in what it waits for: the
// applications and the kinds that every cluster has, from the start and however long it takes. An operator that may not read
// one of them lives, is not ready, and goes on when it may. A kind that a cluster may lack is waited for by nobody but those
// who need it.
//
// That of controller-runtime waits for the kinds that somebody has asked for by then, which are few at the start, and later
// all of them: one that cannot be read would stop the whole operator.
func NewCache(applications ...client.Object) cache.NewCacheFunc {
	return func(config *rest.Config, options cache.Options) (cache.Cache, error) {
		inner, err := cache.New(config, options)
		if err != nil {
			return nil, err
		}
		return newRequiredCache(inner, applications...), nil
	}
}

// requiredCache is filled when it holds all required kinds.
type requiredCache struct {
	cache.Cache
	required []client.Object
	// filled is closed when it is.
	filled chan struct{}
}

func newRequiredCache(inner cache.Cache, applications ...client.Object) *requiredCache {
	required := append(Referenced(), &corev1.Pod{}, ReplicaSetMetadata())
	for _, kind := range resources.Kinds {
		if !kind.Optional {
			required = append(required, kind.New())
		}
	}
	return &requiredCache{Cache: inner, required: append(required, applications...), filled: make(chan struct{})}
}

// Start fills the cache, and keeps it up to date until the context ends.
func (c *requiredCache) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var filling sync.WaitGroup
	filling.Go(func() { c.fill(ctx) })
	defer filling.Wait()
	defer cancel()
	return c.Cache.Start(ctx)
}

// WaitForCacheSync waits until the cache is filled; it is false when the context ends before.
func (c *requiredCache) WaitForCacheSync(ctx context.Context) bool {
	select {
	case <-c.filled:
		return true
	case <-ctx.Done():
		return false
	}
}

// fill watches the required kinds, all at once, and notes when the cache holds them.
func (c *requiredCache) fill(ctx context.Context) {
	var kinds sync.WaitGroup
	for _, object := range c.required {
		kinds.Go(func() { c.watch(ctx, object) })
	}
	kinds.Wait()
	if ctx.Err() == nil {
		close(c.filled)
	}
}

// watch watches a kind, and returns when all of it is in the cache, or the context ends.
func (c *requiredCache) watch(ctx context.Context, object client.Object) {
	kind := watched{kind: nameOf(object)}
	for ctx.Err() == nil {
		informer, err := reconnect(ctx, kind, func() (cache.Informer, error) {
			return c.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		})
		if err == nil {
			toolscache.WaitFor(ctx, "", informer.HasSyncedChecker())
			return
		}
		if ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "A kind cannot be watched", "kind", kind.kind)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lastReconnect):
		}
	}
}
