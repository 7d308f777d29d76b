// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stalePlans let the operator read from an API server that is behind in time while it writes to one that is not.
func stalePlans() [][]plan {
	var plans []plan
	for name, run := range map[string]func(*staleScene){
		"deletion-of-the-predecessor": staleDeletion,
		"specification":               staleSpecification,
		"life-of-the-predecessor":     staleLife,
		"moved-without-a-restart":     staleMove,
	} {
		plans = append(plans, plan{
			class: "API server behind in time", name: "outage/stale/" + name, kinds: bothKinds,
			run: func(s *scene) { run(newStaleScene(s)) },
		})
	}
	slices.SortFunc(plans, func(a, b plan) int { return strings.Compare(a.name, b.name) })
	return [][]plan{plans}
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
	s.etcd.release()
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
	s.etcd.release()
	start := time.Now()
	s.ready()
	s.Logf("the applications are Ready %s after the API server has caught up", time.Since(start))
	if took := time.Since(start); took > convergence {
		s.violate("", "the applications take %s after the API server has caught up", took)
	}
	s.expectChildren(before)
	s.finish()
}
