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
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// DefaultPeriod is the time between two requests.
const DefaultPeriod = time.Minute

// Watcher keeps the facts of a cluster up to date.
type Watcher struct {
	kinds    []schema.GroupVersionKind
	discover func(context.Context) (document, error)
	period   time.Duration
	clock    clock.WithTicker
	facts    atomic.Pointer[Facts]
}

// NewWatcher returns a watcher of the kinds that a cluster may lack. It asks once in a
// period; zero is DefaultPeriod.
func NewWatcher(config *rest.Config, client *http.Client, kinds []schema.GroupVersionKind, period time.Duration) (*Watcher, error) {
	discover, err := newDiscovery(config, client)
	if err != nil {
		return nil, err
	}
	if period == 0 {
		period = DefaultPeriod
	}
	return &Watcher{kinds: kinds, discover: discover, period: period, clock: clock.RealClock{}}, nil
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
	for {
		w.look(ctx, changed)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
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
