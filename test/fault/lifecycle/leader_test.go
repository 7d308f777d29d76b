// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"platformapp/test/audit"
	"platformapp/test/operator"
)

const (
	// handover is within what a standby takes over from a leader that was asked to end.
	handover = 3 * time.Second
	// margin is for the scheduling of a machine that does much else.
	margin = 15 * time.Second
	// sleep is how long a leader is paused at least: more than its lease lasts.
	sleep = 20 * time.Second
)

// reigned is a leader and a standby, and applications that they look after.
type reigned struct {
	*scene
	namespace      string
	accounts       [2]account
	leader, second *operator.Process
	lease          *reign
	first          tenure
	apps           []application
}

// newReigned starts a leader and a standby, whose options may be changed before, and brings applications to rest.
func newReigned(s *scene, applications int, change func(first, second *operator.Options)) *reigned {
	s.Helper()
	r := &reigned{scene: s, namespace: s.namespace("leader")}
	var options [2]operator.Options
	for i, name := range []string{"first", "second"} {
		r.accounts[i] = s.candidate(name, r.namespace)
		options[i] = s.options(r.accounts[i], r.namespace)
		options[i].Args = append(options[i].Args, "--leader-elect", "--leader-election-namespace="+r.namespace)
	}
	change(&options[0], &options[1])
	r.lease = s.watchLease(r.namespace)
	r.leader = s.start(options[0])
	r.first = s.heldBy(r.lease, patience, "")
	r.second = s.start(options[1])
	r.apps = s.kind.makeMany(r.namespace, applications)
	for _, app := range r.apps {
		s.create(app)
	}
	s.carriedOut(r.apps...)
	s.atRest(r.namespace)
	audit.ExpectNone(s, "writes of the operator that does not lead",
		audit.Filter(s.requestsOf(r.accounts[1], time.Time{}), audit.Request.IsWrite))
	return r
}

// asConfigured leaves options as they are.
func asConfigured(*operator.Options, *operator.Options) {}

// expectWarm fails when the standby had to fill its caches after it took over, or had nothing to do.
func (r *reigned) expectWarm(since time.Time) {
	r.Helper()
	requests := r.requestsOf(r.accounts[1], since)
	audit.ExpectNone(r, "requests to fill caches after the takeover", audit.Filter(requests, func(q audit.Request) bool {
		return q.Verb == "list" || q.Verb == "watch"
	}))
	written := slices.IndexFunc(requests, audit.Request.IsWrite)
	if written < 0 {
		r.Error("the standby has written nothing")
		return
	}
	present, _ := r.lease.last()
	r.Logf("the first write came %s after the takeover", requests[written].At.Sub(present.since).Round(time.Millisecond))
}

func TestALeaderIsAskedToEnd(t *testing.T) {
	carryOut(t, course{"leader terminated", 5, func(s *scene) {
		r := newReigned(s, s.size(5, 20), asConfigured)
		bare := s.bareTakeover(r.namespace)
		s.changed(r.apps, 2)
		asked := time.Now()
		s.terminate(r.leader)
		ended := time.Now()
		present := s.heldBy(r.lease, handover+bare+margin, r.first.holder)
		took := present.since.Sub(asked)
		s.Logf("taken over after %s, of which the leader took %s to end; a bare client takes %s",
			took.Round(time.Millisecond), ended.Sub(asked).Round(time.Millisecond), bare.Round(time.Millisecond))
		// A sample shares the machine with whatever else is tested.
		if s.full && took > handover+bare {
			s.Errorf("taken over after %s, want at most %s, and %s that a bare client takes", took, handover, bare)
		}
		if all := r.lease.all(); !slices.ContainsFunc(all, func(t tenure) bool { return t.holder == "" && t.since.After(asked) }) {
			s.Errorf("the lease was not given back: %v", all)
		}
		s.carriedOut(r.apps...)
		s.changed(r.apps, 3)
		s.carriedOut(r.apps...)
		s.atRest(r.namespace)
		r.expectWarm(asked)
		r.expectFirstLook(asked)
		r.expectOneAfterTheOther()
		s.expectMadeOnce(r.apps, r.accounts[:]...)
		s.expectGeneration(r.apps, 3)
	}})
}

// looks is how often the standby may look at a lease that was given back before it has it: the look before may be under way.
const looks = 2

// expectFirstLook fails when the standby did not take the lease as soon as it looked at it.
func (r *reigned) expectFirstLook(asked time.Time) {
	r.Helper()
	// The log has the order of the answers: what was answered after the release has seen it, but for what was under way.
	all := audit.Filter(r.requestsOfAll(asked), func(q audit.Request) bool {
		return q.Resource == "leases.coordination.k8s.io" && q.Namespace == r.namespace && q.Name == leaseName
	})
	released := -1
	for i, q := range all {
		if q.User == r.accounts[0].user() {
			released = i
		}
	}
	if released < 0 {
		r.Fatal("the former leader did not give the lease back")
	}
	got := 0
	for _, q := range all[released+1:] {
		if q.User != r.accounts[1].user() {
			continue
		}
		if q.Verb == "update" && q.Code == http.StatusOK {
			break
		}
		if q.Verb == "get" {
			got++
		}
	}
	if got > looks {
		r.Errorf("the standby looked %d times at the lease that was given back before it took it", got)
	}
}

// expectOneAfterTheOther fails when the first operator wrote after the second had begun to.
func (r *reigned) expectOneAfterTheOther() {
	r.Helper()
	former := audit.Filter(r.requestsOf(r.accounts[0], time.Time{}), audit.Request.IsWrite)
	latter := audit.Filter(r.requestsOf(r.accounts[1], time.Time{}), audit.Request.IsWrite)
	if len(former) == 0 || len(latter) == 0 {
		r.Fatalf("%d writes of the first leader and %d of the second, want some of each", len(former), len(latter))
	}
	audit.ExpectNone(r, "writes of the former leader after the first of the present one", audit.Since(former, latter[0].At))
}

func TestALeaderFallsSilent(t *testing.T) {
	carryOut(t, course{"leader killed", 5, leaderIsKilled}, course{"leader paused", 5, leaderSleeps})
}

func leaderIsKilled(s *scene) {
	r := newReigned(s, s.size(5, 20), asConfigured)
	s.changed(r.apps, 2)
	time.Sleep(s.chance(50 * time.Millisecond))
	killed := time.Now()
	r.leader.Kill()
	present := s.heldBy(r.lease, leaseDuration+longestRetry+margin, r.first.holder)
	s.Logf("taken over %s after the kill; the lease lasts %s", present.since.Sub(killed).Round(time.Millisecond), leaseDuration)
	s.carriedOut(r.apps...)
	s.changed(r.apps, 3)
	s.carriedOut(r.apps...)
	s.atRest(r.namespace)
	r.expectWarm(killed)
	s.expectMadeOnce(r.apps, r.accounts[:]...)
	s.expectGeneration(r.apps, 3)
}

// A leader that sleeps for longer than its lease lasts wakes up with turns of the loop under way, and finds another leader.
func leaderSleeps(s *scene) {
	r := newReigned(s, s.size(8, 20), asConfigured)
	s.changed(r.apps, 2)
	time.Sleep(s.chance(50 * time.Millisecond))
	paused := time.Now()
	if err := r.leader.Pause(); err != nil {
		s.Fatal(err)
	}
	present := s.heldBy(r.lease, leaseDuration+longestRetry+margin, r.first.holder)
	took := present.since.Sub(paused)
	s.Logf("taken over %s after the pause began; the lease lasts %s", took.Round(time.Millisecond), leaseDuration)
	s.carriedOut(r.apps...)
	s.changed(r.apps, 3)
	s.carriedOut(r.apps...)
	s.atRest(r.namespace)
	time.Sleep(time.Until(paused.Add(sleep)))
	woken := time.Now()
	if err := r.leader.Resume(); err != nil {
		s.Fatal(err)
	}
	select {
	case <-r.leader.Ended():
	case <-time.After(patience):
		s.Fatal("the former leader does not end after it has woken up")
	}
	if r.leader.Err() == nil {
		s.Error("the former leader ends as if it had been asked to")
	}
	late := audit.Filter(s.requestsOf(r.accounts[0], woken), audit.Request.IsWrite)
	s.Logf("the former leader ended %s after it woke up", time.Since(woken).Round(time.Millisecond))
	audit.ExpectNone(s, "writes of the former leader after it woke up", late)
	s.atRest(r.namespace)
	for _, app := range r.apps {
		if err := s.isCarriedOut(s.Context(), app); err != nil {
			s.Errorf("%s is not as it was asked for after the former leader woke up: %v", app.GetName(), err)
		}
	}
	s.expectMadeOnce(r.apps, r.accounts[:]...)
	s.expectGeneration(r.apps, 3)
	if present, err := r.lease.last(); err != nil || present.holder == r.first.holder {
		s.Errorf("after the former leader woke up the lease is held by %q: %v", present.holder, err)
	}
}
