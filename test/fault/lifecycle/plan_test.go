// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"platformapp/test/fault/results"
)

// plan is one course of events that is tried.
type plan struct {
	course
	kind kind
	// seed decides what is left to chance.
	seed uint64
}

// name tells the plan apart from all others, also those of other packages.
func (p plan) name() string { return fmt.Sprintf("lifecycle/%s/%s/%d", p.class, p.kind.name, p.seed) }

// title names the plan within its test.
func (p plan) title() string { return strings.TrimPrefix(p.name(), "lifecycle/") }

// random returns the source of what is left to chance.
func (p plan) random() *rand.Rand { return rand.New(rand.NewPCG(p.seed, hashOf(p.class))) }

// chance returns a time below the limit.
func (p plan) chance(limit time.Duration) time.Duration {
	return time.Duration(p.random().Int64N(int64(limit)))
}

// selection says which plans are carried out.
type selection struct {
	// full are all plans on many objects, and otherwise a sample on few.
	full bool
	// seed picks the sample.
	seed uint64
	// only, if it is set, matches the names of the plans that are carried out.
	only *regexp.Regexp
}

// selected reads the selection from the environment.
func selected(tb testing.TB) selection {
	tb.Helper()
	s := selection{full: os.Getenv("FAULT") == "full", seed: 1}
	var err error
	if text := os.Getenv("FAULT_SEED"); text != "" {
		if s.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			tb.Fatalf("FAULT_SEED: %v", err)
		}
	}
	if text := os.Getenv("FAULT_PLAN"); text != "" {
		if s.only, err = regexp.Compile("^(?:" + text + ")$"); err != nil {
			tb.Fatalf("FAULT_PLAN: %v", err)
		}
	}
	return s
}

// of returns those of the plans of one test that are carried out. Of a sample that is one.
func (s selection) of(plans []plan) []plan {
	switch {
	case s.only != nil:
		return slices.DeleteFunc(plans, func(p plan) bool { return !s.only.MatchString(p.name()) })
	case s.full:
		return plans
	}
	source := rand.New(rand.NewPCG(s.seed, hashOf(plans[0].class)))
	pick := source.IntN(len(plans))
	return plans[pick : pick+1]
}

// hashOf makes a number of a class, so that a seed picks another plan of each test.
func hashOf(class string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(class))
	return hash.Sum64()
}

// course is what the plans of a class have in common.
type course struct {
	class string
	// each is how many plans there are for each kind of application.
	each int
	run  func(*scene)
}

// carryOut carries out the plans of the courses, or what of them is selected, beside each other and those of other tests.
func carryOut(t *testing.T, courses ...course) {
	t.Helper()
	t.Parallel()
	chosen := selected(t)
	for _, p := range chosen.of(plansOf(courses)) {
		t.Run(p.title(), func(t *testing.T) {
			t.Parallel()
			p.carryOut(t, chosen.full)
		})
	}
}

// carryOutAlone does the same for plans that judge by time: no other runs at the same time, unless it is a sample, which
// judges nothing by time.
func carryOutAlone(t *testing.T, courses ...course) {
	t.Helper()
	chosen := selected(t)
	if !chosen.full && chosen.only == nil {
		carryOut(t, courses...)
		return
	}
	for _, p := range chosen.of(plansOf(courses)) {
		t.Run(p.title(), func(t *testing.T) { p.carryOut(t, chosen.full) })
	}
}

// carryOutInFull does the same for plans that take too long for a sample, which has none of them.
func carryOutInFull(t *testing.T, courses ...course) {
	t.Helper()
	if chosen := selected(t); chosen.full || chosen.only != nil {
		carryOut(t, courses...)
	}
}

// plansOf returns the plans of the courses.
func plansOf(courses []course) []plan {
	var plans []plan
	for _, c := range courses {
		for seed := range c.each {
			for _, k := range kinds {
				plans = append(plans, plan{course: c, kind: k, seed: uint64(seed + 1)})
			}
		}
	}
	return plans
}

// carryOut carries out the plan and records its result.
func (p plan) carryOut(t *testing.T, full bool) {
	s := newScene(t, p, full)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("carry it out again: FAULT_PLAN='%s' make test-fault", p.name())
		}
		results.Record(p.class, p.kind.name, p.name(), s.violations...)
	})
	p.run(s)
}
