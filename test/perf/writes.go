// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"platformapp/test/audit"
	"platformapp/test/operator"
)

// countedApps is how many applications the requests are counted of.
const countedApps = 100

// requests are those that bring applications to serve.
type requests struct {
	Kind string `json:"kind"`
	N    int    `json:"n"`
	// Each holds, by verb and resource, how many there were for an application, as the API server's audit log tells.
	Each map[string]float64 `json:"perApplication"`
	// WritesEach is how many children and statuses were written for an application, EventsEach how many events.
	WritesEach float64 `json:"writesEach"`
	EventsEach float64 `json:"eventsEach"`
	// MostWrites is how many were written for that application with the most.
	MostWrites int `json:"mostWrites"`
	children   int
}

// countRequests brings applications to serve and counts what the operator asks for. Its own count must be that of the
// API server.
func countRequests(ctx context.Context, p *plane, s subject) (_ requests, err error) {
	out := requests{Kind: s.kind, N: countedApps, Each: map[string]float64{}, children: s.children}
	g, err := newStage(ctx, p, s)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, g.clear(ctx)) }()
	begin := time.Now()
	err = runOperator(ctx, p, func(process *operator.Process) error {
		if err := g.createAll(ctx, countedApps); err != nil {
			return err
		}
		if err := g.awaitReady(countedApps); err != nil {
			return err
		}
		if _, err := awaitTurns(ctx, process, s.controller, countedApps); err != nil {
			return err
		}
		return expectSameCounts(ctx, p, process, begin)
	})
	if err != nil {
		return out, err
	}
	logged, err := p.requests(ctx)
	if err != nil {
		return out, err
	}
	writes := map[string]int{}
	for _, r := range logged {
		if r.Namespace != g.namespace {
			continue
		}
		out.Each[r.Verb+" "+r.Resource] += 1.0 / countedApps
		switch {
		case r.IsWrite():
			writes[r.Name]++
			out.WritesEach += 1.0 / countedApps
		case r.Resource == "events.events.k8s.io":
			out.EventsEach += 1.0 / countedApps
		}
	}
	out.MostWrites = slices.Max(slices.Collect(maps.Values(writes)))
	return out, nil
}

// looks is how often the two counts are compared until they agree: between looking at one and at the other there may be an
// event or a lease.
const looks = 20

// expectSameCounts fails unless the requests that are no reads, which the operator counts itself since its start, are those in
// the audit log.
func expectSameCounts(ctx context.Context, p *plane, process *operator.Process, begin time.Time) error {
	var differ error
	for range looks {
		own, err := metricsOf(ctx, process)
		if err != nil {
			return err
		}
		logged, err := p.requests(ctx)
		if err != nil {
			return err
		}
		if differ = sameCounts(own.requestsByMethod(), audit.Since(logged, begin)); differ == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(restPoll):
		}
	}
	return differ
}

// sameCounts compares counts by HTTP method.
func sameCounts(own map[string]int, logged []audit.Request) error {
	byMethod := map[string]int{}
	for _, r := range logged {
		byMethod[methods[r.Verb]]++
	}
	for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete} {
		if own[method] != byMethod[method] {
			return fmt.Errorf("the operator counts %d %s requests, the API server %d", own[method], method, byMethod[method])
		}
	}
	return nil
}

// methods are the HTTP methods of the verbs.
var methods = map[string]string{
	"get": http.MethodGet, "list": http.MethodGet, "watch": http.MethodGet, "create": http.MethodPost,
	"update": http.MethodPut, "patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": http.MethodDelete,
}

func (r requests) figures() []figure {
	least := float64(r.children + 2)
	return []figure{
		figure{Name: r.Kind + ": writes until ready, the most", Unit: "writes", Measured: float64(r.MostWrites),
			Note: fmt.Sprintf("%d children and 2 statuses; %.2f on average, and %.2f events", r.children, r.WritesEach, r.EventsEach)}.
			atMost(least, least+1),
	}
}
