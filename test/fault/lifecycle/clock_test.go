// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platformapp/test/audit"
	"platformapp/test/operator"
)

// off is how far a clock is off.
const off = 5 * time.Minute

// The operator with a clock of its own is compiled from the ground up, which takes minutes.
func TestAClockIsWrong(t *testing.T) {
	carryOutInFull(t,
		course{"clock of the leader ahead", 1, func(s *scene) { s.clockIsOff(off, 0) }},
		course{"clock of the leader behind", 1, func(s *scene) { s.clockIsOff(-off, 0) }},
		course{"clock of the standby ahead", 1, func(s *scene) { s.clockIsOff(0, off) }},
		course{"clock of the standby behind", 1, func(s *scene) { s.clockIsOff(0, -off) }},
		course{"clock jumps ahead", 1, func(s *scene) { s.clockJumps(off) }},
		course{"clock jumps back", 1, func(s *scene) { s.clockJumps(-off) }},
	)
}

// clockIsOff lets the leader and the standby have clocks that are off from the start.
func (s *scene) clockIsOff(leader, standby time.Duration) {
	r := newReigned(s, s.size(3, 10), func(first, second *operator.Options) {
		s.withClock(first, leader)
		s.withClock(second, standby)
	})
	s.expectClock(r.leader, leader)
	s.expectClock(r.second, standby)
	r.leadsAlone()
}

// clockJumps sets the clock of the leader while it is at work.
func (s *scene) clockJumps(by time.Duration) {
	var clock *wrongClock
	r := newReigned(s, s.size(3, 10), func(first, second *operator.Options) {
		clock = s.withClock(first, 0)
		s.withClock(second, 0)
	})
	s.changed(r.apps, 2)
	s.set(clock, by)
	s.carriedOut(r.apps...)
	s.changed(r.apps, 1)
	s.carriedOut(r.apps...)
	s.expectClock(r.leader, by)
	r.leadsAlone()
}

// leadsAlone is what holds with any clock: one operator leads, for longer than a lease lasts, nothing is written at rest,
// changes are carried out, and the other operator takes over, with its own clock, without writing anything.
func (r *reigned) leadsAlone() {
	r.Helper()
	before := r.settled(r.namespace)
	start := time.Now()
	time.Sleep(leaseDuration + longestRetry)
	r.expectNoWrite("at rest", start, before)
	if all := r.lease.all(); len(all) != 1 {
		r.Errorf("the lease did not stay with the leader: %v", all)
	}
	r.changed(r.apps, 3)
	r.carriedOut(r.apps...)

	before = r.settled(r.namespace)
	start = time.Now()
	r.terminate(r.leader)
	r.heldBy(r.lease, patience, r.first.holder)
	r.looksAtAll(r.second, len(r.apps))
	time.Sleep(quiet)
	r.expectNoWrite("after the takeover", start, before)
	r.changed(r.apps, 4)
	r.carriedOut(r.apps...)
	r.atRest(r.namespace)
	r.expectMadeOnce(r.apps, r.accounts[:]...)
}

// expectNoWrite fails when an operator has written since, or anything has changed.
func (r *reigned) expectNoWrite(when string, since time.Time, before map[string]string) {
	r.Helper()
	for _, a := range r.accounts {
		audit.ExpectNone(r, "writes "+when, audit.Filter(r.requestsOf(a, since), audit.Request.IsWrite))
	}
	now, err := r.versions(r.Context(), r.namespace)
	if err != nil {
		r.Fatal(err)
	}
	if !maps.Equal(before, now) {
		r.Errorf("resource versions have changed %s (-before +after):\n%s", when, cmp.Diff(before, now))
	}
}

// looksAtAll waits until an operator has looked at so many applications.
func (s *scene) looksAtAll(op *operator.Process, applications int) {
	s.Helper()
	s.eventually("the operator looks at every application", func(ctx context.Context) error {
		turns, err := op.Sum(ctx, "controller_runtime_reconcile_total",
			map[string]string{"controller": strings.ToLower(s.kind.name), "result": "success"})
		if err == nil && int(turns) < applications {
			err = fmt.Errorf("%v turns, want %d", turns, applications)
		}
		return err
	})
}

// expectClock fails unless the last line of an operator's log was written, by its own clock, so far from now.
func (s *scene) expectClock(op *operator.Process, offset time.Duration) {
	s.Helper()
	var line struct {
		Time time.Time `json:"ts"`
	}
	log := strings.Split(strings.TrimSpace(op.Log()), "\n")
	if err := json.Unmarshal([]byte(log[len(log)-1]), &line); err != nil {
		s.Fatalf("read the log: %v\n%s", err, log[len(log)-1])
	}
	// The line may be some seconds old.
	if got := line.Time.Sub(time.Now().Add(offset)); got < -off/2 || got > off/2 {
		s.Errorf("the operator logs the time %s, which is not %s off: its clock was not set", line.Time, offset)
	}
}
