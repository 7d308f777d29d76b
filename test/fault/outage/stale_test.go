// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/operator"
)

// stalePlans let the operator read from an API server that is behind in time while it writes to one that is not, or see the
// applications late and everything else in time.
func stalePlans() [][]plan {
	return [][]plan{
		stalePlansOf("API server behind in time", map[string]func(*staleScene){
			"deletion-of-the-predecessor": staleDeletion,
			"specification":               staleSpecification,
			"life-of-the-predecessor":     staleLife,
			"moved-without-a-restart":     staleMove,
		}),
		stalePlansOf("applications seen late", map[string]func(*staleScene){
			"application-at-a-takeover": staleTakeover,
			"orphaning-deletion":        staleOrphaning,
		}),
	}
}

func stalePlansOf(class string, runs map[string]func(*staleScene)) []plan {
	var plans []plan
	for name, run := range runs {
		plans = append(plans, plan{
			class: class, name: "outage/stale/" + name, kinds: bothKinds,
			run: func(s *scene) { run(newStaleScene(s)) },
		})
	}
	slices.SortFunc(plans, func(a, b plan) int { return strings.Compare(a.name, b.name) })
	return plans
}

// stalePeriod is how long the operator lives in the past.
func stalePeriod() time.Duration {
	if isFull {
		return 15 * time.Second
	}
	return 5 * time.Second
}

// The operator has seen the applications deleted and made anew; then it is started on an API server that still shows the
// deletion of the predecessors (rabbitmq/cluster-operator#648, among others).
func staleDeletion(s *staleScene) {
	const hold = "example.com/hold"
	s.egapp.Finalizers, s.service.Finalizers = []string{hold}, []string{hold}
	s.create(s.egapp, s.service)
	s.work(s.fresh)
	s.ready()
	for _, app := range s.applications() {
		s.remove(app)
		s.must(s.admin.Get(s.Context(), client.ObjectKeyFromObject(app), app))
	}
	s.freeze()
	for _, app := range s.applications() {
		s.edit(app, func() { app.SetFinalizers(nil) })
	}
	s.recreate()
	s.ready()
	s.visitThePast()
}

// The operator has carried out a specification; then it is started on an API server that shows the one before, and the
// children as they were before that.
func staleSpecification(s *staleScene) {
	s.create(s.egapp, s.service)
	s.work(s.fresh)
	s.ready()
	s.stop()
	s.setImage("registry.example.com/team/app:1.5")
	s.freeze()
	s.work(s.fresh)
	s.ready()
	s.setImage(newImage)
	s.ready()
	s.visitThePast()
}

// The operator first sees the applications on an API server that does not know yet that they are gone, and that others have
// their names.
func staleLife(s *staleScene) {
	s.create(s.egapp, s.service)
	s.freeze()
	for _, app := range s.applications() {
		s.remove(app)
	}
	s.recreate()
	s.work(s.stale)
	time.Sleep(stalePeriod())
	s.release()
	start := time.Now()
	s.ready()
	s.Logf("the applications are Ready %s after the API server has caught up", time.Since(start))
	if took := time.Since(start); took > convergence {
		s.violate("", "the applications take %s after the API server has caught up", took)
	}
	for child, owner := range s.owners() {
		if owner != s.egapp.UID && owner != s.service.UID {
			s.violate("", "%s belongs to a predecessor", child)
		}
	}
	s.finish()
}

// The operator is led to the API server that is behind while it works: what it has seen is the future there.
func staleMove(s *staleScene) {
	s.create(s.egapp, s.service)
	s.freeze()
	s.work(s.fresh)
	s.ready()
	before := s.children(s.namespace)
	s.must(s.proxy.SetUpstream(s.stale, s.fresh))
	s.setImage(newImage)
	time.Sleep(stalePeriod())
	s.release()
	start := time.Now()
	s.ready()
	s.Logf("the applications are Ready %s after the API server has caught up", time.Since(start))
	if took := time.Since(start); took > convergence {
		s.violate("", "the applications take %s after the API server has caught up", took)
	}
	s.expectChildren(before)
	s.finish()
}

// The operator takes over while its watch of the applications lags: it sees what they were asked to be before the last change,
// and their children as they are.
func staleTakeover(s *staleScene) {
	election := []string{"--leader-elect", "--leader-election-namespace=" + s.namespace}
	s.allowLease(s.account)
	s.create(s.egapp, s.service)
	leader, err := operator.Start(s.Context(), s.operatorOptions(s.account, []string{s.namespace}, election...))
	s.must(err)
	s.Cleanup(leader.Kill)
	s.ready()
	s.options.Args = append(s.options.Args, election...)
	s.work(s.fresh)
	see := s.blind()
	s.setImage(newImage)
	s.ready()
	want, before, generations := s.settledState(s.namespace), s.children(s.namespace), s.generations()
	s.must(leader.Terminate())
	s.eventually(patience, "the standby leads", func(ctx context.Context) error {
		leads, err := s.process.Sum(ctx, "leader_election_master_status", nil)
		if err == nil && leads != 1 {
			err = errors.New("it does not")
		}
		return err
	})
	time.Sleep(stalePeriod())
	s.expectChildren(before)
	see()
	took := s.awaitState(time.Now(), s.namespace, want)
	s.Logf("all is as before %s after the applications are seen as they are", took)
	s.expectChildren(before)
	s.expectUnwritten(generations)
	s.finish()
}

// The applications are deleted with --cascade=orphan, which the operator sees late. Garbage collection takes the owner
// references off the children meanwhile; what carries one when the application is gone is removed.
func staleOrphaning(s *staleScene) {
	s.create(s.egapp, s.service)
	s.work(s.fresh)
	s.ready()
	before := s.children(s.namespace)
	see := s.blind()
	for _, app := range s.applications() {
		s.must(s.admin.Delete(s.Context(), app, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	}
	s.awaitEnd()
	time.Sleep(stalePeriod())
	see()
	// Garbage collection looks at once at what it sees to be without its owner.
	time.Sleep(stalePeriod())
	for name := range s.children(s.namespace) {
		s.violate("", "%s is owned again", name)
	}
	s.expectSame(before, s.orphans())
	s.finish()
}
