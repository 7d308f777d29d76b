// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// voidSpread is how far the bare loop may vary before the run says nothing.
const voidSpread = 0.15

// rates are the applications a second that come to serve, round by round.
type rates struct {
	Kind string `json:"kind"`
	// N is how many applications each loop makes in a round; the naive reconciler makes NaiveN.
	N      int `json:"n"`
	NaiveN int `json:"naiveN"`
	// Bare has two rates a round: before and after the others.
	Bare  []float64 `json:"bareLoop"`
	Ours  []float64 `json:"operator"`
	Naive []float64 `json:"naiveReconciler"`
	// BarePost is the rate of a bare loop that creates the children in place of applying them.
	BarePost float64 `json:"bareLoopWithPost"`
}

// isVoid tells whether the bare loop varies too much.
func (r rates) isVoid() bool { return spread(r.Bare) > voidSpread }

// ofBare returns, for each round, the operator's share of the rate of the bare loop around it.
func (r rates) ofBare() []float64 {
	var out []float64
	for i, rate := range r.Ours {
		out = append(out, rate/((r.Bare[2*i]+r.Bare[2*i+1])/2))
	}
	return out
}

// ofNaive returns, for each round, how many times the rate of the naive reconciler the operator's is.
func (r rates) ofNaive() []float64 {
	var out []float64
	for i, rate := range r.Ours {
		out = append(out, rate/r.Naive[i])
	}
	return out
}

// compareRates lets the bare loop, the naive reconciler, the operator and the bare loop again make applications of a kind,
// round by round, each in a namespace of its own and on a control plane that is empty.
func compareRates(ctx context.Context, p *plane, s subject, o options) (rates, error) {
	r := rates{Kind: s.kind, N: o.n, NaiveN: max(o.n/5, 1)}
	withBare := func(g *stage) (time.Duration, error) { return bare{stage: g}.run(ctx, r.N) }
	post, err := timed(ctx, p, s, r.N, func(g *stage) (time.Duration, error) { return bare{stage: g, post: true}.run(ctx, r.N) })
	if err != nil {
		return r, fmt.Errorf("the bare loop with POST: %w", err)
	}
	r.BarePost = post
	for round := range o.rounds {
		for _, step := range []struct {
			name string
			to   *[]float64
			n    int
			make func(*stage) (time.Duration, error)
		}{
			{"the bare loop", &r.Bare, r.N, withBare},
			{"the naive reconciler", &r.Naive, r.NaiveN, func(g *stage) (time.Duration, error) { return runNaiveOn(ctx, p, g, r.NaiveN) }},
			{"the operator", &r.Ours, r.N, func(g *stage) (time.Duration, error) { return runOursOn(ctx, p, g, r.N) }},
			{"the bare loop", &r.Bare, r.N, withBare},
		} {
			rate, err := timed(ctx, p, s, step.n, step.make)
			if err != nil {
				return r, fmt.Errorf("%s in round %d: %w", step.name, round+1, err)
			}
			*step.to = append(*step.to, rate)
			o.progress("%s, round %d: %s makes %.0f a second", s.kind, round+1, step.name, rate)
		}
	}
	return r, nil
}

// timed makes n applications in a namespace of their own and returns how many a second.
func timed(ctx context.Context, p *plane, s subject, n int, run func(*stage) (time.Duration, error)) (float64, error) {
	g, err := newStage(ctx, p, s)
	if err != nil {
		return 0, err
	}
	took, err := run(g)
	return float64(n) / took.Seconds(), errors.Join(err, g.clear(ctx))
}

// figures returns what the rates say of the operator.
func (r rates) figures() []figure {
	note := fmt.Sprintf("%d applications, %d rounds; the bare loop varies by %.0f %%", r.N, len(r.Ours), 100*spread(r.Bare))
	return []figure{
		figure{Name: r.Kind + " to ready, of the bare loop", Unit: "x", Note: note}.of(r.ofBare()).atLeast(0.85, 0.70),
		figure{Name: r.Kind + " to ready, of the naive reconciler", Unit: "x", Note: fmt.Sprintf("%d applications for it", r.NaiveN)}.
			of(r.ofNaive()).atLeast(5, 4),
		{
			Name: r.Kind + " to ready, of a bare loop with POST", Unit: "x", Measured: median(r.Ours) / r.BarePost,
			Note: "what server-side apply itself costs is in it",
		},
	}
}
