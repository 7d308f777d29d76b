// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"platformapp/test/fault"
	"platformapp/test/fault/choice"
	"platformapp/test/fault/results"
)

// asked is what the environment asks for. TestMain tells of errAsked.
var asked, errAsked = choice.Read(os.Getenv)

// isFull tells whether plans are carried out at full length: those that are asked for by name are, too.
var isFull = asked.Full || asked.Plans.Given()

// plan is a fault and what it meets.
type plan struct {
	// class and name are as in the table of results: the name holds all that is needed to carry the plan out again.
	class, name string
	// kinds of applications that meet it; each counts.
	kinds []string
	// alone tells that nothing else may be carried out on the cluster meanwhile.
	alone bool
	// run injects the fault and tells what is wrong through the scene.
	run func(*scene)
}

// bothKinds are the kinds of a plan that meets applications of each.
var bothKinds = []string{fault.EGApp, fault.DemoMicroService}

// selected returns the plans to carry out: all of them, those that are asked for by name, or the seeded sample, which
// has one of each of some groups.
func selected(sampled int, groups ...[]plan) []plan {
	if isFull {
		return slices.DeleteFunc(slices.Concat(groups...), func(p plan) bool { return !asked.Plans.Has(p.name) })
	}
	random := choice.Random(asked.Seed, "outage")
	var sample []plan
	for _, i := range random.Perm(len(groups))[:sampled] {
		sample = append(sample, groups[i][random.IntN(len(groups[i]))])
	}
	return sample
}

// carryOut carries a plan out as a subtest and records what came of it.
func (s *site) carryOut(t *testing.T, p plan) {
	t.Run(strings.TrimPrefix(p.name, "outage/"), func(t *testing.T) {
		if !p.alone {
			t.Parallel()
		}
		sc := &scene{T: t, site: s, plan: p}
		t.Cleanup(sc.record)
		p.run(sc)
		sc.isInjected = true
	})
}

// violate tells of something that is wrong with an application of a kind; without a kind, with all of them.
func (s *scene) violate(kind, format string, args ...any) {
	s.Helper()
	text := fmt.Sprintf(format, args...)
	s.Error(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = append(s.violations, violation{kind, text})
}

// violation is what is wrong with an application of a kind.
type violation struct{ kind, text string }

// record hands in the result of the plan and tells how it is carried out again if it failed.
func (s *scene) record() {
	if s.Failed() {
		s.Logf("replay it by\n\t%s", asked.Replay(s.plan.name))
	}
	if !s.isInjected && !s.Failed() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range s.plan.kinds {
		var of []string
		for _, v := range s.violations {
			if v.kind == "" || v.kind == kind {
				of = append(of, v.text)
			}
		}
		if len(s.violations) == 0 && s.Failed() {
			of = append(of, "the plan was not carried out to its end")
		}
		results.Record(s.plan.class, kind, s.plan.name, of...)
	}
}
