// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// DefaultPeriod is the time between two requests.
	DefaultPeriod = time.Minute
	// doubtPeriod is the time between a doubt and the request that settles it, and all that
	// are raised meanwhile: the API server takes a moment to list what it serves.
	doubtPeriod = 100 * time.Millisecond
	// An API that is listed and yet not there is doubted by whoever needs it, again and again:
	// of the requests that doubts ask for, this many are made at once, and then this many a
	// second.
	doubtBurst = 5
	doubtRate  = 0.2
)

// Watcher keeps the facts of a cluster up to date.
type Watcher struct {
	kinds    []schema.GroupVersionKind
	discover func(context.Context) (document, error)
	period   time.Duration
	doubts   Doubts
	clock    clock.WithTicker
	allowed  flowcontrol.PassiveRateLimiter
	facts    atomic.Pointer[Facts]
}

// NewWatcher returns a watcher of the kinds that a cluster may lack. It asks once in a
// period, zero being DefaultPeriod, and when somebody doubts what is known.
func NewWatcher(config *rest.Config, client *http.Client, kinds []schema.GroupVersionKind, period time.Duration, doubts Doubts) (*Watcher, error) {
	discover, err := newDiscovery(config, client)
	if err != nil {
		return nil, err
	}
	if period == 0 {
		period = DefaultPeriod
	}
	return newWatcher(kinds, discover, period, doubts, clock.RealClock{}), nil
}

func newWatcher(kinds []schema.GroupVersionKind, discover func(context.Context) (document, error), period time.Duration, doubts Doubts, c clock.WithTicker) *Watcher {
	return &Watcher{
		kinds: kinds, discover: discover, period: period, doubts: doubts, clock: c,
		allowed: flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(doubtRate, doubtBurst, c),
	}
}

// Facts returns what is known; it is false until the API server has answered once.
func (w *Watcher) Facts() (Facts, bool) {
	facts := w.facts.Load()
	if facts == nil {
		return Facts{}, false
	}
	return *facts, true
}

// Run asks until the context ends. After each answer, or failure to get one, it calls
// changed if the facts are others than before. A failure changes nothing.
func (w *Watcher) Run(ctx context.Context, changed func(context.Context, Facts)) {
	ticker := w.clock.NewTicker(w.period)
	defer ticker.Stop()
	w.look(ctx, changed)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			w.look(ctx, changed)
		case first := <-w.doubts:
			w.settle(ctx, first, changed)
		}
	}
}

// settle asks for the sake of a doubt and all that are raised meanwhile, unless that was done
// too often of late: then what is known stands.
func (w *Watcher) settle(ctx context.Context, first chan<- struct{}, changed func(context.Context, Facts)) {
	doubting := []chan<- struct{}{first}
	if w.allowed.TryAccept() {
		doubting = append(doubting, w.furtherDoubts(ctx)...)
		w.look(ctx, changed)
	}
	for _, settled := range doubting {
		close(settled)
	}
}

// furtherDoubts returns the doubts that are raised until it is time to settle them.
func (w *Watcher) furtherDoubts(ctx context.Context) []chan<- struct{} {
	var further []chan<- struct{}
	due := w.clock.After(doubtPeriod)
	for {
		select {
		case <-ctx.Done():
			return further
		case <-due:
			return further
		case next := <-w.doubts:
			further = append(further, next)
		}
	}
}

func (w *Watcher) look(ctx context.Context, changed func(context.Context, Facts)) {
	found, err := w.discover(ctx)
	if err != nil {
		if ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "What is known of the cluster's APIs stays as it is")
		}
		return
	}
	before, known := w.Facts()
	kinds := map[string]presence{}
	for _, kind := range w.kinds {
		kinds[kind.Kind] = found.presenceOf(kind)
	}
	after := before.next(found.groups[openShiftGroup], kinds)
	if known && after.Equal(before) {
		return
	}
	w.facts.Store(&after)
	log.FromContext(ctx).Info("The cluster's APIs", "openShift", after.OpenShift, "kinds", after.Kinds, "unknown", after.Unknown)
	changed(ctx, after)
}
