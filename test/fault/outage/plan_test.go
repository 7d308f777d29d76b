// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"platformapp/test/fault"
	"platformapp/test/fault/results"
)

// What the environment says: FAULT=full asks for all plans at full length, FAULT_PLAN for those whose whole names match,
// and FAULT_SEED chooses the sample.
const (
	scopeEnv = "FAULT"
	planEnv  = "FAULT_PLAN"
	seedEnv  = "FAULT_SEED"
)

// isFull tells whether plans are carried out at full length.
var isFull = os.Getenv(scopeEnv) == "full" || os.Getenv(planEnv) != ""

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
func selected(t *testing.T, sampled int, groups ...[]plan) []plan {
	t.Helper()
	if expression := os.Getenv(planEnv); expression != "" {
		matches, err := regexp.Compile("^(?:" + expression + ")$")
		if err != nil {
			t.Fatalf("%s: %v", planEnv, err)
		}
		all := slices.Concat(groups...)
		return slices.DeleteFunc(all, func(p plan) bool { return !matches.MatchString(p.name) })
	}
	if isFull {
		return slices.Concat(groups...)
	}
	seed := uint64(1)
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
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
		s.Logf("replay it by\n\tFAULT_PLAN='%s' make test-fault", regexp.QuoteMeta(s.plan.name))
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
