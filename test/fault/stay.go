// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/watch"
)

// stay watches for the time of rest whether anything happens.
func (r *run) stay(ctx context.Context) {
	const turns = "controller_runtime_reconcile_total"
	event, request, start := r.History.Len(), len(r.Proxy.Requests()), r.History.View()
	before, errBefore := r.Operator.Gauge(ctx, turns)
	pause(ctx, r.rest)
	after, errAfter := r.Operator.Gauge(ctx, turns)
	if err := errors.Join(errBefore, errAfter); err != nil {
		r.fail("the operator does not serve its metrics: %v", err)
	}
	r.outcome.Reconciles = after - before
	for _, e := range r.History.Since(event) {
		if !isIdle(e, start) {
			r.fail("it does not rest: %s %s %s is %s", e.At.Format(time.TimeOnly), e.Kind, e.Object.GetName(), e.Type)
		}
	}
	for _, q := range r.Proxy.Requests()[request:] {
		if !r.scenario.Rechecks && (q.IsWrite() || q.Verb == "get") {
			r.fail("it does not rest: %s is asked again", q.Key())
		}
	}
}

// isIdle tells whether an event changes nothing that counts since the start: other controllers renew what they know, and a
// write of the operator that changes nothing shows among its requests.
func isIdle(e Event, start View) bool {
	before := start.Get(e.Kind, e.Object.GetName())
	return before != nil && e.Type == watch.Modified && equality.Semantic.DeepEqual(normalised(e.Kind, before), normalised(e.Kind, e.Object))
}
