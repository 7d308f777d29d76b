// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"platformapp/api/appstatus"
)

// walk is an application that changes from state to state. Each change is a plan.
type walk struct {
	class, name string
	states      []State
}

// step is the name of the plan that changes to the i-th state.
func (w walk) step(i int) string {
	return fmt.Sprintf("%s: %s -> %s (%d)", w.name, w.states[i-1].Name, w.states[i].Name, i)
}

// goodBadGood leads from the first state to each other one and back.
func goodBadGood(states []State) []State {
	walked := []State{states[0]}
	for _, state := range states[1:] {
		walked = append(walked, state, states[0])
	}
	return walked
}

// runWalk takes an application from state to state and tells of each change what is violated. It ends with a change that
// cannot be made, since what follows would begin elsewhere.
func (s *suite) runWalk(ctx context.Context, w walk, tell func(plan string, violations []string)) {
	name := s.newName(w.name)
	k := key{w.states[0].Kind.Kind, walkNamespace, name}
	a, err := s.server.create(ctx, w.states[0].Kind, walkNamespace, w.states[0].named(name))
	if err != nil || !a.isAccepted() {
		tell(w.step(1), []string{fmt.Sprintf("the walk does not begin: %d %s (%v)", a.code, excerpt(a.message), err)})
		return
	}
	want := s.fresh(ctx, w.name, w.states[0])
	if problem := s.arrive(ctx, k, record{}, a.generation, want, false); problem != "" {
		tell(w.step(1), []string{"the walk does not begin: " + problem})
		return
	}
	for i, state := range w.states {
		if i == 0 {
			continue
		}
		violations, goOn := s.move(ctx, k, w.states[i-1], state, w.step(i))
		tell(w.step(i), violations)
		if !goOn {
			return
		}
	}
}

// move changes an application from one state to another, and returns what is violated, and whether it got to where a new
// application of that state comes to.
func (s *suite) move(ctx context.Context, k key, from, to State, plan string) (violations []string, arrived bool) {
	want := s.fresh(ctx, plan, to)
	before := s.store.get(k)
	patch, err := to.edit()
	if err != nil {
		return []string{err.Error()}, false
	}
	a, err := s.server.edit(ctx, to.Kind, k.namespace, k.name, patch)
	switch {
	case err != nil:
		return []string{"it cannot be written: " + err.Error()}, false
	case !a.isAccepted():
		return []string{fmt.Sprintf("of a new one it is taken, here the answer is %d: %s", a.code, excerpt(a.message))}, false
	}
	if problem := s.arrive(ctx, k, before, a.generation, want, to.Name != seedItself); problem != "" {
		return []string{problem}, false
	}
	after := s.store.get(k)
	written := after.templates - before.templates
	allowed := 1
	if before.template == after.template || from.pods != "" && from.pods == to.pods {
		allowed = 0
	}
	if written > allowed {
		violations = append(violations, fmt.Sprintf("the pod template is written %d times, want at most %d", written, allowed))
	}
	return violations, true
}

// arrive waits until an application is where a new one comes to, or says what differs.
func (s *suite) arrive(ctx context.Context, k key, before record, generation int64, want *outcome, lenient bool) string {
	if want.problem != "" || !want.answer.isAccepted() {
		return "a new application does not come to a rest either"
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	for {
		now := s.store.get(k)
		differs := s.difference(before, now, generation, want, lenient)
		if differs == nil {
			return ""
		}
		select {
		case <-now.changed:
		case <-time.After(modelInterval):
		case <-ctx.Done():
			s.restless.Add(1)
			return differs()
		}
	}
}

// modelInterval is how often what waits looks again though it has not changed itself: what it is compared with may have.
const modelInterval = time.Second

// difference returns what tells in what an application is not where a new one comes to: in its status, and its children;
// or nil. What is refused leaves the children as they were before.
func (s *suite) difference(before, now record, generation int64, want *outcome, lenient bool) func() string {
	at, resting := standingOf(now.app)
	if !resting || now.app.GetGeneration() < generation {
		return func() string { return fmt.Sprintf("it is on its way: %s: %s", at.reason, excerpt(at.message)) }
	}
	if at.reason != want.standing.reason || at.isStalled != want.standing.isStalled {
		return func() string {
			return fmt.Sprintf("it is %s: %s; a new one is %s: %s",
				at.reason, excerpt(at.message), want.standing.reason, excerpt(want.standing.message))
		}
	}
	model := s.store.get(want.key)
	l := leniencyFor(now, model, lenient)
	have, wanted := now.normal(l), model.normal(l)
	if before.app != nil && at.isStalled && isRefusal(at.reason) {
		l.configHash = false
		have, wanted = now.normal(l), before.normal(l)
		if at.reason == appstatus.ReasonRefused {
			// The children before the one that the API server refuses are written.
			have, wanted = onlyPods(have), onlyPods(wanted)
		}
	}
	if maps.Equal(wanted, have) {
		return nil
	}
	return func() string { return "(-a new one +this one):\n" + cmp.Diff(wanted, have) }
}

// isRefusal tells whether the reason is one for which a specification is not carried out.
func isRefusal(reason string) bool {
	return slices.Contains([]string{
		appstatus.ReasonInvalidSpec, appstatus.ReasonRefused,
		appstatus.ReasonDuplicateAppID, appstatus.ReasonServiceAccountNotAllowed,
	}, reason)
}

func onlyPods(children map[string]string) map[string]string {
	out := map[string]string{}
	for id, child := range children {
		if strings.HasPrefix(id, "Deployment/") {
			out[id] = child
		}
	}
	return out
}
