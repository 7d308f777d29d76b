// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"platformapp/test/audit"
	"platformapp/test/operator"
)

// size is what so many EGApps cost.
type size struct {
	N int `json:"n"`
	// SecondsEach is what the last tenth of them took to become ready, for each.
	SecondsEach float64 `json:"secondsEach"`
	// HeapBytes is what the operator's heap holds at rest, RSSBytes what the process occupies.
	HeapBytes float64 `json:"heapBytes"`
	RSSBytes  float64 `json:"rssBytes"`
	// RestartSecondsEach is the time from the operator's readiness until it has looked at all of them, for each.
	RestartSecondsEach float64 `json:"restartSecondsEach"`
	// RestartCPUSecondsEach is the CPU time of the process until then, for each.
	RestartCPUSecondsEach float64 `json:"restartCPUSecondsEach"`
	// RestartRequests are those of the restart, by verb and resource, leases and events left out.
	RestartRequests map[string]int `json:"restartRequests"`
	RestartWrites   int            `json:"restartWrites"`
}

// sizes are what is measured with many EGApps.
type sizes struct {
	// Empty is the heap of the operator without any, Starts the seconds from its start to its readiness then.
	EmptyHeapBytes float64   `json:"emptyHeapBytes"`
	EmptyRSSBytes  float64   `json:"emptyRSSBytes"`
	StartSeconds   []float64 `json:"startSeconds"`
	Sizes          []size    `json:"sizes"`
	// RestSeconds is how long the operator was watched at the greatest size while nothing happened.
	RestSeconds float64 `json:"restSeconds"`
	// RestRequests are those of that time, by verb and resource, without those for the lease.
	RestRequests map[string]int `json:"restRequests"`
	RestWrites   int            `json:"restWrites"`
	// NoOpCPUSeconds is the CPU time of the process for an event that changes nothing, NoOpWrites what was written for all.
	NoOpCPUSeconds float64 `json:"noOpCPUSeconds"`
	NoOpWrites     int     `json:"noOpWrites"`
}

// measureSizes makes EGApps, a tenth of them first, and measures what they cost.
func measureSizes(ctx context.Context, p *plane, s subject, o options) (_ sizes, err error) {
	var out sizes
	if out.StartSeconds, err = starts(ctx, p); err != nil {
		return out, err
	}
	if out.EmptyHeapBytes, out.EmptyRSSBytes, err = memoryOf(ctx, p, s, 0); err != nil {
		return out, err
	}
	g, err := newStage(ctx, p, s)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, g.clear(ctx)) }()
	tenth := o.scale / 10
	for _, n := range []int{tenth, o.scale} {
		z := size{N: n}
		if z.SecondsEach, err = g.fill(ctx, p, n, tenth); err != nil {
			return out, err
		}
		if err := z.measureRestart(ctx, p, s); err != nil {
			return out, err
		}
		if z.HeapBytes, z.RSSBytes, err = memoryOf(ctx, p, s, n); err != nil {
			return out, err
		}
		o.progress("%d EGApps: %.1f ms each, restart %.2f ms each, %.1f KB each", n, 1000*z.SecondsEach, 1000*z.RestartSecondsEach,
			(z.HeapBytes-out.EmptyHeapBytes)/float64(n)/1024)
		out.Sizes = append(out.Sizes, z)
	}
	return out, out.measureRest(ctx, p, g, o)
}

// fill makes applications until there are n, and returns the seconds that each of the last ones took.
func (g *stage) fill(ctx context.Context, p *plane, n, last int) (float64, error) {
	have, _, _ := g.ready.look("")
	var took time.Duration
	err := runOperator(ctx, p, func(process *operator.Process) error {
		if _, err := awaitTurns(ctx, process, g.subject.controller, float64(have)); err != nil {
			return err
		}
		for _, until := range []int{n - last, n} {
			start := time.Now()
			err := inParallel(ctx, parallel, until-have, func(ctx context.Context, i int) error {
				return g.client.Create(ctx, g.newApp(have+i))
			})
			if err == nil {
				err = g.awaitReady(until)
			}
			if err != nil {
				return err
			}
			took, have = time.Since(start), until
		}
		return nil
	})
	return took.Seconds() / float64(last), err
}

// measureRestart starts the operator where all is as it should be.
func (z *size) measureRestart(ctx context.Context, p *plane, s subject) error {
	begin := time.Now()
	err := runOperator(ctx, p, func(process *operator.Process) error {
		start := time.Now()
		f, err := awaitTurns(ctx, process, s.controller, float64(z.N))
		z.RestartSecondsEach = time.Since(start).Seconds() / float64(z.N)
		z.RestartCPUSecondsEach = f.sum(metricCPU, nil) / float64(z.N)
		return err
	})
	if err != nil {
		return err
	}
	z.RestartRequests, z.RestartWrites, err = p.requestsSince(ctx, begin)
	return err
}

// measureRest looks at the operator while nothing happens, and while each application has an event that changes nothing.
func (z *sizes) measureRest(ctx context.Context, p *plane, g *stage, o options) error {
	return runOperator(ctx, p, func(process *operator.Process) error {
		_, err := awaitTurns(ctx, process, g.subject.controller, float64(o.scale))
		if err != nil {
			return err
		}
		z.RestSeconds = o.rest.Seconds()
		begin := time.Now()
		select {
		case <-time.After(o.rest):
		case <-ctx.Done():
			return ctx.Err()
		}
		if z.RestRequests, z.RestWrites, err = p.requestsSince(ctx, begin); err != nil {
			return err
		}
		before, err := metricsOf(ctx, process)
		if err != nil {
			return err
		}
		begin = time.Now()
		if err := g.touchAll(ctx, o.scale); err != nil {
			return err
		}
		of := map[string]string{"controller": g.subject.controller}
		turns := before.sum(metricTurns, of)
		after, err := awaitTurns(ctx, process, g.subject.controller, turns+float64(o.scale))
		if err != nil {
			return err
		}
		z.NoOpCPUSeconds = (after.sum(metricCPU, nil) - before.sum(metricCPU, nil)) / (after.sum(metricTurns, of) - turns)
		_, z.NoOpWrites, err = p.requestsSince(ctx, begin)
		return err
	})
}

// requestsSince returns what the operator has asked for since then, by verb and resource, and how many of it were writes.
// The lease, of which it keeps one in any case, does not count, nor do events.
func (p *plane) requestsSince(ctx context.Context, begin time.Time) (map[string]int, int, error) {
	requests, err := p.requests(ctx)
	if err != nil {
		return nil, 0, err
	}
	counts, writes := map[string]int{}, 0
	for _, r := range audit.Since(requests, begin) {
		if audit.IsIncidental(r.Resource) {
			continue
		}
		counts[fmt.Sprintf("%s %s", r.Verb, r.Resource)]++
		if r.IsWrite() {
			writes++
		}
	}
	return counts, writes, nil
}
