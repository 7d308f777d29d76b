// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"platformapp/test/audit"
	"platformapp/test/fault"
)

// quietPeriod is how long nothing may move any more in the end.
func quietPeriod() time.Duration {
	if isFull {
		return 20 * time.Second
	}
	return 3 * time.Second
}

// stateOf returns the state of a namespace.
func (s *scene) stateOf(ctx context.Context, namespace string) (fault.State, error) {
	view, err := fault.List(ctx, s.objects, namespace)
	if err != nil {
		return nil, err
	}
	return fault.StateOf(namespace, view)
}

// settledState waits until the state of a namespace does not change any more, and returns it.
func (s *scene) settledState(namespace string) fault.State {
	s.Helper()
	var last fault.State
	since := time.Now()
	s.eventually(patience, namespace+" comes to rest", func(ctx context.Context) error {
		state, err := s.stateOf(ctx, namespace)
		if err != nil {
			return err
		}
		if !maps.Equal(state, last) {
			last, since = state, time.Now()
		}
		if time.Since(since) < 2*time.Second {
			return errors.New("it moves")
		}
		return nil
	})
	return last
}

// requestsOf returns the requests of an account so far.
func (s *scene) requestsOf(a account) []audit.Request {
	s.Helper()
	s.must(audit.Await(s.Context(), s.cluster.AuditLog(), s.clientset))
	requests, err := audit.Read(s.cluster.AuditLog(), a.user())
	s.must(err)
	return requests
}

// expectQuiet tells of what an operator writes while nothing is left to do: once its account's namespace, and others that it
// sees to, have come to rest.
func (s *scene) expectQuiet(a account, others ...string) {
	s.Helper()
	for _, namespace := range append([]string{a.namespace}, others...) {
		s.settledState(namespace)
	}
	s.expectQuietFrom(a, time.Now())
}

// expectQuietFrom tells of what an operator writes from a time on.
func (s *scene) expectQuietFrom(a account, start time.Time) {
	s.Helper()
	s.pauseFor(time.Until(start.Add(quietPeriod())))
	var writes []string
	for _, r := range audit.Since(s.requestsOf(a), start) {
		if r.IsWrite() {
			writes = append(writes, r.String())
		}
	}
	if len(writes) > 0 {
		s.violate("", "it is not quiet in the end:\n%s", strings.Join(writes, "\n"))
	}
}

// expectOnce tells of the children in a namespace that the operator has created or deleted more often than those of the
// same name in the namespace of the reference.
func (s *scene) expectOnce(a account, namespace string, want *reference) {
	s.Helper()
	reference := s.creationsAndDeletions(want.account, want.namespace)
	for what, n := range s.creationsAndDeletions(a, namespace) {
		if n > reference[what] {
			s.violate("", "%s %d times, %d times without a fault", what, n, reference[what])
		}
	}
}

// creationsAndDeletions returns how often an operator has created and deleted each object of a namespace.
func (s *scene) creationsAndDeletions(a account, namespace string) map[string]int {
	s.Helper()
	counts := map[string]int{}
	for _, r := range s.requestsOf(a) {
		switch {
		case r.Namespace != namespace || !r.IsWrite():
		case r.Code == http.StatusCreated:
			counts["created "+r.Resource+" "+r.Name]++
		case r.Verb == "delete" && r.Code == http.StatusOK:
			counts["deleted "+r.Resource+" "+r.Name]++
		}
	}
	return counts
}

// expectSound tells when an operator has ended more often than it may, and of a panic in what it has said. It is what a plan
// asks last.
func (s *scene) expectSound(k *kubelet, ends int) {
	s.Helper()
	if n := k.ends(); n > ends {
		s.violate("", "the operator ended %d times, at most %d are expected:\n%s", n, ends, k.log())
	}
	s.expectNoPanic(k.log())
}

// expectNoPanic tells of a panic in what an operator has said.
func (s *scene) expectNoPanic(said string) {
	s.Helper()
	for line := range strings.Lines(said) {
		if strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE") {
			s.violate("", "the operator logs %s", line)
			return
		}
	}
}

// awaitState waits until a namespace is as the reference, and returns how long that took since start. It ends the test
// when that does not come.
func (s *scene) awaitState(start time.Time, namespace string, reference fault.State) time.Duration {
	s.Helper()
	return s.awaitPart(start, namespace, reference, func(state fault.State) fault.State { return state })
}

// awaitPart does the same for a part of the state.
func (s *scene) awaitPart(start time.Time, namespace string, reference fault.State, part func(fault.State) fault.State) time.Duration {
	s.Helper()
	s.eventually(patience, namespace+" is as without a fault", func(ctx context.Context) error {
		state, err := s.stateOf(ctx, namespace)
		if err != nil {
			return err
		}
		if diff := part(reference).Diff(part(state)); diff != "" {
			return errors.Join(fmt.Errorf("it differs:\n%s", diff), s.playPods(ctx, namespace))
		}
		return nil
	})
	return time.Since(start)
}
