// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"fmt"
	"testing"
	"time"
)

// answerTime is how long the operator may take to see to an application that is well, whatever the others are. On a machine
// of its own it takes a tenth of a second. A sample shares the machine with whatever else is tested, where a time says little.
const answerTime = 30 * time.Second

// another is the plan of the application that is well all the time.
var another = plan{class: "another application meanwhile", kind: "EGApp", name: "another application"}

// watchAnother changes an application that is well, again and again, until stop is called, which tells what is violated: no
// other application keeps the operator from it. When stop returns, the last change has been carried out.
func (s *suite) watchAnother(t *testing.T, isTimed bool) (stop func() []string) {
	t.Helper()
	enough := make(chan struct{})
	found := make(chan []string, 1)
	go func() { found <- s.changeAgainAndAgain(t, enough, isTimed) }()
	return func() []string {
		close(enough)
		return <-found
	}
}

// changeAgainAndAgain goes on until enough is closed, and carries the change through that is under way then.
func (s *suite) changeAgainAndAgain(t *testing.T, enough <-chan struct{}, isTimed bool) (violations []string) {
	ctx := t.Context()
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
	for isEnough := false; !isEnough; changes++ {
		state := states[(changes+1)%2]
		patch, err := state.edit()
		if err != nil {
			return []string{err.Error()}
		}
		started := time.Now()
		a, err := s.server.edit(ctx, state.Kind, k.namespace, k.name, patch)
		if err != nil || !a.isAccepted() {
			return append(violations, fmt.Sprintf("it cannot be changed: %s (%v)", a.message, err))
		}
		if _, problem := s.settle(ctx, k, a.generation); problem != "" {
			return append(violations, problem)
		}
		longest = max(longest, time.Since(started))
		select {
		case <-enough:
			isEnough = true
		case <-time.After(pollInterval):
		}
	}
	t.Logf("%d changes of another application, the longest took %s", changes, longest)
	if isTimed && longest > answerTime {
		violations = append(violations, fmt.Sprintf("a change took %s", longest))
	}
	return violations
}
