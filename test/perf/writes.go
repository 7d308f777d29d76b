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
	err = runOperator(ctx, p, func(process *operator.Process) error {
		if err := g.createAll(ctx, countedApps); err != nil {
			return err
		}
		if err := g.awaitReady(countedApps); err != nil {
			return err
		}
		own, err := awaitTurns(ctx, process, s.controller, countedApps)
		if err != nil {
			return err
		}
		logged, err := p.requests(ctx)
		if err != nil {
			return err
		}
		return checkCounts(own.requestsByMethod(), logged)
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

// checkCounts compares the requests to write that the operator counts with those in the audit log: between the two looks
// it may have renewed its lease or told an event, and the log holds what earlier processes did.
func checkCounts(own map[string]int, logged []audit.Request) error {
	const tolerance = 5
	byMethod := map[string]int{}
	for _, r := range logged {
		byMethod[methods[r.Verb]]++
	}
	for _, method := range []string{http.MethodPatch, http.MethodPut, http.MethodDelete} {
		if own[method] > byMethod[method]+tolerance {
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
