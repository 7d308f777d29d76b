// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/watch"

	"platformapp/test/fault/proxy"
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
	asked := slices.DeleteFunc(r.Proxy.RequestsSince(request), func(q proxy.Request) bool { return !q.IsWrite() && q.Verb != "get" })
	if r.scenario.Rechecks && len(asked) <= recheckRequests {
		return
	}
	for _, q := range asked {
		r.fail("it does not rest: %s is asked again", q.Key())
	}
}

// recheckRequests is how many requests there may be in a time of rest where something is tried again from time to time: a look
// at the application, and the write that is refused.
const recheckRequests = 2 * recheckTurns

// isIdle tells whether an event changes nothing that counts since the start: other controllers renew what they know, and a
// write of the operator that changes nothing shows among its requests.
func isIdle(e Event, start View) bool {
	before := start.Get(e.Kind, e.Object.GetName())
	return before != nil && e.Type == watch.Modified && equality.Semantic.DeepEqual(normalised(e.Kind, before), normalised(e.Kind, e.Object))
}
