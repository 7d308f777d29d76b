// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// answerTime is how long the operator may take to see to an application that is well, whatever the others are. On a machine
// of its own it takes a tenth of a second.
const answerTime = 30 * time.Second

// another is the plan of the application that is well all the time.
var another = plan{class: "another application meanwhile", kind: "EGApp", name: "another application"}

// watchAnother changes an application that is well, again and again, until stop is called, which tells what is violated: no
// other application keeps the operator from it.
func (s *suite) watchAnother(t *testing.T) (stop func() []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	found := make(chan []string, 1)
	go func() { found <- s.changeAgainAndAgain(ctx, t) }()
	return func() []string {
		cancel()
		return <-found
	}
}

func (s *suite) changeAgainAndAgain(ctx context.Context, t *testing.T) (violations []string) {
	var states []State
	for _, count := range []int{1, 2} {
		spec := fmt.Sprintf("{framework: go, environment: dev, replicaCount: %d}", count)
		states = append(states, s.specified(t, fmt.Sprint(count), spec))
	}
	k := key{states[0].Kind.Kind, walkNamespace, s.newName(another.name)}
	a, err := s.server.create(ctx, states[0].Kind, k.namespace, states[0].named(k.name))
	if err != nil || !a.isAccepted() {
		return []string{fmt.Sprintf("it cannot be made: %s (%v)", a.message, err)}
	}
	longest, changes := time.Duration(0), 0
	for ; ctx.Err() == nil; changes++ {
		state := states[(changes+1)%2]
		patch, err := state.edit()
		if err != nil {
			return []string{err.Error()}
		}
		started := time.Now()
		a, err := s.server.edit(ctx, state.Kind, k.namespace, k.name, patch)
		if err != nil || !a.isAccepted() {
			if ctx.Err() == nil {
				violations = append(violations, fmt.Sprintf("it cannot be changed: %s (%v)", a.message, err))
			}
			break
		}
		if _, problem := s.settle(ctx, k, a.generation); problem != "" && ctx.Err() == nil {
			return append(violations, problem)
		}
		longest = max(longest, time.Since(started))
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
		}
	}
	t.Logf("%d changes of another application, the longest took %s", changes, longest)
	if longest > answerTime {
		violations = append(violations, fmt.Sprintf("a change took %s", longest))
	}
	return violations
}
