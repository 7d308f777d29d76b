// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/test/audit"
)

const (
	// delayLimit is how many times as long as beside nothing a change may take beside the failing applications.
	delayLimit = 2
	// leastIdle is the time from which on that is measured: what is shorter is decided by what else the machine does.
	leastIdle = 50 * time.Millisecond
	// overtakeLimit is how many requests for failing applications the operator may send, in the median, between a change of
	// the healthy one and what it does about it, beyond what it sends while an operator that has nothing else to do sees to
	// such a change: each of its eight workers ends a turn and makes another, of two requests.
	overtakeLimit = 32
)

// The change of a healthy application beside many that fail for ever is carried out as soon as one that an operator does
// which has nothing else to do. Both are measured by turns in the same time, so that what else the machine does is the same
// for both.
func TestFailingApplicationsDelayNoOther(t *testing.T) {
	carryOutAlone(t, course{"many objects fail", 1, func(s *scene) {
		calm, busy := s.namespace("calm"), s.namespace("busy")
		idle := s.account("idle", calm)
		loaded := s.account("loaded", busy)
		places := map[string]failure{}
		for _, f := range failures {
			namespace := s.namespace(f.name)
			f.prepare(s, namespace, loaded)
			places[namespace] = f
		}
		s.start(s.options(idle, calm))
		s.start(s.options(loaded, append(slices.Collect(maps.Keys(places)), busy)...))
		healthy := [2]application{s.kind.make(calm, "healthy"), s.kind.make(busy, "healthy")}
		for _, app := range healthy {
			s.create(app)
			s.carriedOut(app)
		}
		alone := s.compare(healthy, s.size(3, 15))
		s.Logf("before there are any: %s beside nothing, %s on the other operator", alone[0], alone[1])

		start := time.Now()
		n := s.size(200, 1000) / len(failures)
		for namespace, f := range places {
			for _, app := range s.kind.makeMany(namespace, n) {
				f.spoil(s, app)
				s.create(app)
			}
		}
		// Meanwhile all changes wait in one queue, whoever fails.
		storm := s.compare(healthy, s.size(3, 15))
		s.Logf("while %d begin to fail: %s beside nothing, %s beside them", n*len(failures), storm[0], storm[1])
		s.expectFailed(places, n)
		settled := time.Now()
		// In full as long as it takes until each refusal has been tried again.
		period := time.Duration(s.size(5, 75)) * time.Second
		var rest [2][]time.Duration
		for time.Since(settled) < period {
			took := s.compareOnce(healthy)
			rest[0], rest[1] = append(rest[0], took[0]), append(rest[1], took[1])
		}
		at := [2]time.Duration{median(rest[0]), median(rest[1])}
		s.Logf("while they fail: %s beside nothing, %s beside them, at most %s and %s, in %d changes each",
			at[0], at[1], slices.Max(rest[0]), slices.Max(rest[1]), len(rest[0]))
		// A sample shares the machine with whatever else is tested.
		if s.full && at[1] > delayLimit*max(at[0], leastIdle) {
			s.Errorf("while objects fail a change takes %s, beside nothing %s", at[1], at[0])
		}
		s.expectOvertakes([2]account{idle, loaded}, [2]string{calm, busy}, settled)
		s.expectBounded(loaded, places, n, start)
	}})
}

// compareOnce changes each of two applications, one after the other, and returns how long each took to be carried out: from
// the request until its Deployment has changed.
func (s *scene) compareOnce(apps [2]application) (took [2]time.Duration) {
	s.Helper()
	for i, app := range apps {
		took[i] = s.timeChange(app)
	}
	return took
}

// compare returns the medians of several rounds.
func (s *scene) compare(apps [2]application, rounds int) [2]time.Duration {
	s.Helper()
	var all [2][]time.Duration
	for range rounds {
		took := s.compareOnce(apps)
		all[0], all[1] = append(all[0], took[0]), append(all[1], took[1])
	}
	return [2]time.Duration{median(all[0]), median(all[1])}
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// timeChange gives an application another image and returns how long it takes until its Deployment has that.
func (s *scene) timeChange(app application) time.Duration {
	s.Helper()
	deployments, err := s.admin.Watch(s.Context(), &appsv1.DeploymentList{}, client.InNamespace(app.GetNamespace()),
		client.MatchingFields{"metadata.name": app.GetName()})
	if err != nil {
		s.Fatal(err)
	}
	defer deployments.Stop()
	before, _ := app.DeepCopyObject().(client.Object)
	setImage(app, imageOf(time.Now().Nanosecond()))
	start := time.Now()
	if err := s.admin.Patch(s.Context(), app, client.MergeFrom(before)); err != nil {
		s.Fatal(err)
	}
	deadline := time.After(patience)
	for {
		select {
		case event := <-deployments.ResultChan():
			deployment, ok := event.Object.(*appsv1.Deployment)
			if !ok {
				s.Fatalf("the watch of a Deployment ends: %v", event.Object)
			}
			if deployment.Spec.Template.Spec.Containers[0].Image == imageIn(app) {
				return time.Since(start)
			}
		case <-deadline:
			s.Fatalf("the change of %s is not carried out after %s", app.GetName(), patience)
		}
	}
}

// expectOvertakes fails when the loaded operator did much for others between a change of its healthy application, since a
// time, and its write of the Deployment: when the change waited in a queue behind them. What it does while the idle operator
// carries out a change of its own is what it does in the time that the news of a change takes, on this machine at this time.
func (s *scene) expectOvertakes(accounts [2]account, healthy [2]string, since time.Time) {
	s.Helper()
	all := s.requestsOfAll(since)
	slices.SortStableFunc(all, func(a, b audit.Request) int { return a.At.Compare(b.At) })
	var middle [2]int
	for i, namespace := range healthy {
		waits := s.overtakes(all, namespace, accounts[i], accounts[1])
		if len(waits) == 0 {
			s.Fatal("no change of the healthy application is in the audit log: this test sees nothing")
		}
		slices.Sort(waits)
		s.Logf("requests for failing applications before each change in %s was carried out: %v", namespace, waits)
		middle[i] = waits[len(waits)/2]
	}
	if most := overtakeLimit + delayLimit*middle[0]; middle[1] > most {
		s.Errorf("%d requests for failing applications came before a change in the median, want at most %d", middle[1], most)
	}
}

// overtakes returns how many requests of the loaded operator for failing applications came between each change of a healthy
// application and the write of its Deployment by the operator that sees to it.
func (s *scene) overtakes(all []audit.Request, healthy string, own, loaded account) []int {
	var waits []int
	waited := -1
	for _, r := range all {
		isOwn, isIncidental := r.User == own.user(), audit.IsIncidental(r.Resource)
		switch {
		case r.Namespace == healthy && r.Resource == s.kind.resource && r.Verb == "patch" && !isOwn:
			waited = 0
		case waited < 0 || isIncidental:
		case isOwn && r.Namespace == healthy && r.Resource == "deployments.apps" && r.Verb == "patch":
			waits = append(waits, waited)
			waited = -1
		case r.User == loaded.user() && r.Namespace != healthy:
			waited++
		}
	}
	return waits
}

// expectFailed waits until all n applications of each namespace say why they fail.
func (s *scene) expectFailed(places map[string]failure, n int) {
	s.Helper()
	for namespace, f := range places {
		s.eventually("all applications say that they fail: "+f.name, func(ctx context.Context) error {
			list := s.kind.list()
			if err := s.admin.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			reasons := map[string]int{}
			err := meta.EachListItem(list, func(item runtime.Object) error {
				app, ok := item.(application)
				if !ok {
					return errors.New("the list holds something else")
				}
				if ready := meta.FindStatusCondition(app.AppStatus().Conditions, appstatus.ConditionReady); ready != nil {
					reasons[ready.Reason]++
				}
				return nil
			})
			if err == nil && reasons[f.reason] != n {
				err = fmt.Errorf("the reasons are %v, want %d times %s", reasons, n, f.reason)
			}
			return err
		})
	}
}

// expectBounded fails when the failing applications have caused more requests than they may since a time.
func (s *scene) expectBounded(a account, places map[string]failure, n int, since time.Time) {
	s.Helper()
	counts := map[string]int{}
	for _, r := range s.requestsOf(a, since) {
		if r.Name != "" && !audit.IsIncidental(r.Resource) {
			counts[r.Namespace]++
		}
	}
	minutes := time.Since(since).Minutes()
	for namespace, f := range places {
		each := float64(counts[namespace]) / float64(n)
		most := float64(f.atOnce) + float64(f.perMinute)*minutes
		s.Logf("%s: %.1f requests for each object in %.1f minutes", f.name, each, minutes)
		if each > most {
			s.Errorf("%s: %.1f requests for each object in %.1f minutes, want at most %.1f", f.name, each, minutes, most)
		}
	}
}
