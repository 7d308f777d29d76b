// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/operator"
)

// churnShare is at what share of the limit specifications change all the time.
const churnShare = 0.5

// latencies are how long a change of a specification takes, in seconds.
type latencies struct {
	// Put is one write of an application; the others begin when it is answered.
	Put []float64 `json:"-"`
	// Updated is until the Deployment is seen with the change, Ready until the application is seen to be ready.
	Updated []float64 `json:"-"`
	Ready   []float64 `json:"-"`
	// Quantiles holds the 50th and 99th percentile of each.
	Quantiles map[string][2]float64 `json:"p50p99"`
	// PerSecond is how many changes there were in a second, Queue99 how long the operator let 99 of 100 turns wait.
	PerSecond float64 `json:"changesPerSecond,omitempty"`
	Queue99   float64 `json:"queueP99,omitempty"`

	mu sync.Mutex
}

func (l *latencies) summarize() {
	l.Quantiles = map[string][2]float64{}
	for name, samples := range map[string][]float64{"put": l.Put, "updated": l.Updated, "ready": l.Ready} {
		if len(samples) > 0 {
			l.Quantiles[name] = [2]float64{quantile(samples, 0.5), quantile(samples, 0.99)}
		}
	}
}

// measureLatencies changes specifications one after the other, while nothing else happens, and then all the time at half
// of the limit.
func measureLatencies(ctx context.Context, p *plane, s subject, limit float64, o options) (idle, busy *latencies, err error) {
	g, err := newStage(ctx, p, s)
	if err != nil {
		return nil, nil, err
	}
	idle, busy = &latencies{}, &latencies{}
	err = runOperator(ctx, p, func(process *operator.Process) error {
		if err := g.createAll(ctx, o.n); err != nil {
			return err
		}
		if err := g.awaitReady(o.n); err != nil {
			return err
		}
		for i := range o.changes {
			if err := g.change(ctx, i%o.n, 2+i/o.n, idle, g.awaitUpdate); err != nil {
				return err
			}
		}
		idle.summarize()
		o.progress("%s: a change is carried out in %.1f ms and ready in %.1f ms, a write takes %.1f ms", s.kind,
			1000*idle.Quantiles["updated"][0], 1000*idle.Quantiles["ready"][0], 1000*idle.Quantiles["put"][0])
		return g.churn(ctx, process, churnShare*limit, 2+o.changes/o.n+1, busy, o)
	})
	if err == nil {
		err = g.clear(ctx)
	}
	return idle, busy, err
}

// awaitUpdate returns when the Deployment of an application was seen with the image of a version.
func (g *stage) awaitUpdate(name string, version int) (time.Time, error) {
	return g.rollouts.images.await(g.ctx, name+"="+imageOf(version))
}

// noUpdate returns the zero time: among other changes one may be overtaken, which no Deployment then shows.
func noUpdate(string, int) (time.Time, error) { return time.Time{}, nil }

// change asks an application for another image and waits until its Deployment is updated, and until it serves.
func (g *stage) change(ctx context.Context, i, version int, l *latencies, awaitUpdate func(name string, version int) (time.Time, error)) error {
	app := g.newApp(i)
	if err := g.client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
		return err
	}
	before, ok := app.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is not an object", app)
	}
	g.subject.setImage(app, imageOf(version))
	begin := time.Now()
	// A patch without the resource version: among other changes the status is written between the two.
	if err := g.client.Patch(ctx, app, client.MergeFrom(before)); err != nil {
		return err
	}
	answered := time.Now()
	updated, err := awaitUpdate(app.GetName(), version)
	if err != nil {
		return err
	}
	ready, err := g.ready.await(g.ctx, generationOf(app.GetName(), app.GetGeneration()))
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Put = append(l.Put, answered.Sub(begin).Seconds())
	if !updated.IsZero() {
		l.Updated = append(l.Updated, updated.Sub(answered).Seconds())
	}
	l.Ready = append(l.Ready, ready.Sub(answered).Seconds())
	return nil
}

// churn changes so many applications a second, in turn, whether the last changes have been carried out or not.
func (g *stage) churn(ctx context.Context, process *operator.Process, perSecond float64, version int, l *latencies, o options) error {
	before, err := metricsOf(ctx, process)
	if err != nil {
		return err
	}
	n := max(int(perSecond*o.churn.Seconds()), 1)
	ticker := time.NewTicker(time.Duration(float64(time.Second) / perSecond))
	defer ticker.Stop()
	failures := make(chan error, n)
	begin := time.Now()
	for i := range n {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		go func() { failures <- g.change(ctx, i%o.n, version+i/o.n, l, noUpdate) }()
	}
	l.PerSecond = float64(n) / time.Since(begin).Seconds()
	for range n {
		if err := <-failures; err != nil {
			return fmt.Errorf("a change among others: %w", err)
		}
	}
	after, err := metricsOf(ctx, process)
	if err != nil {
		return err
	}
	l.Queue99 = after.quantileSince(before, metricInQueue, map[string]string{"name": g.subject.controller}, 0.99)
	l.summarize()
	o.progress("%s: at %.0f changes a second 99 of 100 are ready in %.0f ms", g.subject.kind, l.PerSecond, 1000*l.Quantiles["ready"][1])
	return nil
}

// touchAll writes an annotation, of which nothing depends, on the first n applications.
func (g *stage) touchAll(ctx context.Context, n int) error {
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/touched":"yes"}}}`))
	return inParallel(ctx, parallel, n, func(ctx context.Context, i int) error { return g.client.Patch(ctx, g.newApp(i), patch) })
}

// latencyFigures returns what a change takes.
func latencyFigures(kind string, idle, busy *latencies) []figure {
	put := idle.Quantiles["put"][0]
	return []figure{
		figure{Name: kind + ": change to child, p50", Unit: "writes", Measured: idle.Quantiles["updated"][0] / put,
			Note: "idle; in times of one write of the application, from its answer"}.aimingAtMost(2),
		figure{Name: kind + ": change to child, p99", Unit: "writes", Measured: idle.Quantiles["updated"][1] / put}.aimingAtMost(10),
		figure{Name: kind + ": change to ready at half the limit, p99", Unit: "s", Measured: busy.Quantiles["ready"][1],
			Note: fmt.Sprintf("%.0f changes a second", busy.PerSecond)}.aimingAtMost(5),
		figure{Name: kind + ": wait in the queue at half the limit, p99", Unit: "s", Measured: busy.Queue99}.aimingAtMost(1),
	}
}
