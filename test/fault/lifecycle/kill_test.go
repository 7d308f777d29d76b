// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/test/operator"
)

// The operator is killed again and again, at any time also of its start, while what is asked for changes. In the end there
// is what there would be if only the last had ever been asked for.
func TestKillsWhileTheSpecificationChanges(t *testing.T) {
	carryOut(t, course{"killed at random", 5, func(s *scene) {
		kills, changes := s.size(6, 20), s.size(4, 10)
		// The events come in any order, within a minute in full.
		longest := time.Duration(s.size(1, 4)) * time.Second
		random := s.random()
		namespace := s.namespace("killed")
		s.create(settings(namespace))
		options := s.options(s.account("operator", namespace), namespace)
		op := s.startUnready(options)
		app := s.kind.make(namespace, "orders")
		s.create(app)
		events := make([]bool, kills+changes)
		for i := range kills {
			events[i] = true
		}
		random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		release := 1
		for _, isKill := range events {
			time.Sleep(time.Duration(random.Int64N(int64(longest))))
			if isKill {
				op.Kill()
				op = s.startUnready(options)
				continue
			}
			release++
			s.changedAtRandom(app, release, random)
		}
		if err := op.WaitReady(s.Context()); err != nil {
			s.Fatal(err)
		}
		s.observed(app)
		s.atRest(namespace)
		straight := s.kind.make(namespace, "straight")
		copySpec(straight, app)
		s.create(straight)
		s.observed(straight)
		s.atRest(namespace)
		if diff := cmp.Diff(s.likeness(straight), s.likeness(app)); diff != "" {
			s.Errorf("the children are not those of an application that was asked for at once (-straight +killed):\n%s", diff)
		}
	}})
}

// startUnready starts an operator that ends with the plan.
func (s *scene) startUnready(o operator.Options) *operator.Process {
	s.Helper()
	op, err := operator.StartUnready(s.Context(), o)
	if err != nil {
		s.Fatal(err)
	}
	s.watchOver(op)
	return op
}

// changedAtRandom makes an application ask for another release and, an EGApp, for other features.
func (s *scene) changedAtRandom(app application, release int, random *rand.Rand) {
	s.Helper()
	s.get(app)
	before, _ := app.DeepCopyObject().(client.Object)
	if app, ok := app.(*v1alpha1.EGApp); ok {
		m := randomMix(random)
		for i, feature := range features {
			switch {
			case feature.name == remembered:
				m[i] = 0
			case feature.name == "expose" && m[i] > 1:
				// Of two kinds the one that serves stays until the other does, and nobody plays a router here.
				m[i] = 1
			}
		}
		app.Spec = m.spec()
	}
	setImage(app, imageOf(release))
	if err := s.admin.Patch(s.Context(), app, client.MergeFrom(before)); err != nil {
		s.Fatal(err)
	}
}

// copySpec makes an application ask for what another one asks for.
func copySpec(to, from application) {
	if from, ok := from.(*v1alpha1.EGApp); ok {
		if to, ok := to.(*v1alpha1.EGApp); ok {
			to.Spec = *from.Spec.DeepCopy()
		}
	}
	setImage(to, imageIn(from))
}
