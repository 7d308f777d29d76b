// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"platformapp/internal/platform"
	"platformapp/internal/resources"
)

const (
	// readableRetry is the time between two attempts to read a kind that has come.
	readableRetry = time.Second
	// settleTimeout is how long the loops wait at the start for the kinds that are there to
	// be readable. Then those applications go on that need none of them.
	settleTimeout = 15 * time.Second
)

// errUnknownPlatform is why nothing is reconciled before the API server has told once
// which APIs there are.
var errUnknownPlatform = errors.New("the API server has not told yet which APIs the cluster has")

// optionalKinds watches the kinds of children that a cluster may lack while it has them,
// and knows which of them can be read.
type optionalKinds struct {
	cache   cache.Cache
	watcher *platform.Watcher

	mu sync.Mutex
	// found is what discovery told last, or nil; since when there is any.
	found *platform.Facts
	since time.Time
	// told is what the loops go by: a kind counts as there once it can be read.
	told *platform.Facts
	// watched are the kinds with an informer, readable those whose informer is filled.
	watched  map[string]watching
	readable map[string]bool
	loops    []*optionalSource
}

// watching is the watch of a kind; its context ends with it.
type watching struct {
	ctx context.Context
	end context.CancelFunc
}

// newOptionalKinds returns the watches and adds them to the manager: a standby runs them
// as well, so that its cache is full when it takes over.
func newOptionalKinds(mgr manager.Manager, period time.Duration, doubts platform.Doubts) (*optionalKinds, error) {
	var kinds []schema.GroupVersionKind
	for _, kind := range optional() {
		gvk, err := apiutil.GVKForObject(kind.New(), mgr.GetScheme())
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, gvk)
	}
	watcher, err := platform.NewWatcher(mgr.GetConfig(), mgr.GetHTTPClient(), kinds, period, doubts)
	if err != nil {
		return nil, err
	}
	o := &optionalKinds{cache: mgr.GetCache(), watcher: watcher, watched: map[string]watching{}, readable: map[string]bool{}}
	return o, mgr.Add(o)
}

func optional() []resources.Kind {
	var kinds []resources.Kind
	for _, kind := range resources.Kinds {
		if kind.Optional {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// NeedLeaderElection is false: a standby watches too.
func (o *optionalKinds) NeedLeaderElection() bool { return false }

// Start watches until the context ends.
func (o *optionalKinds) Start(ctx context.Context) error {
	o.watcher.Run(ctx, o.change)
	return nil
}

// facts returns what the loops go by.
func (o *optionalKinds) facts() (platform.Facts, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told == nil {
		return platform.Facts{}, errUnknownPlatform
	}
	return *o.told, nil
}

// change starts to watch the kinds that have come and ends it for those that have gone.
func (o *optionalKinds) change(ctx context.Context, found platform.Facts) {
	var gone []resources.Kind
	o.mu.Lock()
	if o.found == nil {
		o.since = time.Now()
	}
	o.found = &found
	for _, kind := range optional() {
		watch, isWatched := o.watched[kind.Name]
		switch {
		case found.Kinds[kind.Name] && !isWatched:
			o.watch(ctx, kind)
		case isWatched && !found.Kinds[kind.Name] && !found.Unknown[kind.Name]:
			watch.end()
			delete(o.watched, kind.Name)
			delete(o.readable, kind.Name)
			gone = append(gone, kind)
		}
	}
	o.mu.Unlock()
	o.tell(ctx)
	// No turn that begins now reads them any more.
	for _, kind := range gone {
		if err := o.cache.RemoveInformer(ctx, kind.New()); err != nil {
			log.FromContext(ctx).Error(err, "A kind that is gone is still watched", "kind", kind.Name)
		}
	}
}

// watch fills an informer of the kind and leads its events to the loops.
func (o *optionalKinds) watch(ctx context.Context, kind resources.Kind) {
	ctx, end := context.WithCancel(ctx)
	o.watched[kind.Name] = watching{ctx, end}
	for _, loop := range o.loops {
		loop.follow(ctx, kind)
	}
	go func() {
		err := wait.PollUntilContextCancel(ctx, readableRetry, true, func(ctx context.Context) (bool, error) {
			_, err := o.cache.GetInformer(ctx, kind.New())
			if err != nil && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "A kind that the cluster has cannot be read", "kind", kind.Name)
			}
			return err == nil, nil
		})
		if err != nil {
			return
		}
		o.mu.Lock()
		if ctx.Err() == nil {
			o.readable[kind.Name] = true
		}
		o.mu.Unlock()
		o.tell(ctx)
	}()
}

// tell lets the loops look at all applications if what they go by has changed.
func (o *optionalKinds) tell(ctx context.Context) {
	o.mu.Lock()
	next := o.readableFacts()
	before := o.told
	o.told = &next
	loops := o.loops
	o.mu.Unlock()
	if before != nil && next.Equal(*before) {
		return
	}
	for _, loop := range loops {
		loop.lookAtAll(ctx)
	}
}

// readableFacts returns what was found, but for the kinds that cannot be read yet: those
// that have come count as absent until then, and at the start as unknown.
func (o *optionalKinds) readableFacts() platform.Facts {
	next := platform.Facts{Platform: o.found.Platform, Unknown: maps.Clone(o.found.Unknown)}
	next.Kinds = maps.Clone(o.found.Kinds)
	for kind, there := range o.found.Kinds {
		if !there || o.readable[kind] {
			continue
		}
		delete(next.Kinds, kind)
		if _, wasKnown := o.toldOf(kind); wasKnown {
			next.Kinds[kind] = false
		} else {
			next.Unknown[kind] = true
		}
	}
	return next
}

func (o *optionalKinds) toldOf(kind string) (isThere, known bool) {
	if o.told == nil {
		return false, false
	}
	isThere, known = o.told.Kinds[kind]
	return isThere, known
}

// isSettled tells whether the loops may begin.
func (o *optionalKinds) isSettled() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.told != nil && (len(o.readable) == len(o.watched) || time.Since(o.since) > settleTimeout)
}
