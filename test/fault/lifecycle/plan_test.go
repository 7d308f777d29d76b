// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"platformapp/test/fault/choice"
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
func (p plan) name() string { return fmt.Sprintf("lifecycle/%s/%s/%d", p.slug(), p.kind.name, p.seed) }

// title names the plan within its test.
func (p plan) title() string { return strings.TrimPrefix(p.name(), "lifecycle/") }

// random returns the source of what is left to chance.
func (p plan) random() *rand.Rand { return choice.Random(p.seed, p.class) }

// chance returns a time below the limit.
func (p plan) chance(limit time.Duration) time.Duration {
	return time.Duration(p.random().Int64N(int64(limit)))
}

// selected returns those of the plans of one test that are asked for. Of a sample that is one.
func selected(asked choice.Choice, plans []plan) []plan {
	if asked.Full || asked.Plans.Given() {
		return slices.DeleteFunc(plans, func(p plan) bool { return !asked.Plans.Has(p.name()) })
	}
	pick := choice.Random(asked.Seed, plans[0].class).IntN(len(plans))
	return plans[pick : pick+1]
}

// course is what the plans of a class have in common.
type course struct {
	// class in words, as in the table of results.
	class string
	// each is how many plans there are for each kind of application.
	each int
	run  func(*scene)
}

// slug is the class without blanks and commas: a blank would end the name of a plan.
func (c course) slug() string {
	words := strings.FieldsFunc(c.class, func(r rune) bool { return r == ' ' || r == ',' })
	return strings.Join(words, "-")
}

// carryOut carries out the plans of the courses, or what of them is selected, beside each other and those of other tests.
func carryOut(t *testing.T, courses ...course) {
	t.Helper()
	t.Parallel()
	asked := choice.ForTest(t)
	for _, p := range selected(asked, plansOf(courses)) {
		t.Run(p.title(), func(t *testing.T) {
			t.Parallel()
			p.carryOut(t, asked)
		})
	}
}

// carryOutAlone does the same for plans that judge by time: no other runs at the same time, unless it is a sample, which
// judges nothing by time.
func carryOutAlone(t *testing.T, courses ...course) {
	t.Helper()
	asked := choice.ForTest(t)
	if !asked.Full && !asked.Plans.Given() {
		carryOut(t, courses...)
		return
	}
	for _, p := range selected(asked, plansOf(courses)) {
		t.Run(p.title(), func(t *testing.T) { p.carryOut(t, asked) })
	}
}

// carryOutInFull does the same for plans that take too long for a sample, which has none of them.
func carryOutInFull(t *testing.T, courses ...course) {
	t.Helper()
	if asked := choice.ForTest(t); asked.Full || asked.Plans.Given() {
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
func (p plan) carryOut(t *testing.T, asked choice.Choice) {
	var s *scene
	t.Cleanup(func() {
		var violations []string
		if s != nil {
			violations = s.violations
		}
		if t.Failed() {
			t.Logf("carry it out again: %s", asked.Replay(p.name()))
			if len(violations) == 0 {
				violations = []string{"the plan was not carried out to its end"}
			}
		}
		if !t.Skipped() {
			results.Record(p.class, p.kind.name, p.name(), violations...)
		}
	})
	s = newScene(t, p, asked.Full)
	p.run(s)
}

// TestNameOfAPlan tells that a plan has its name from all that tells it apart, and that the name is one word.
func TestNameOfAPlan(t *testing.T) {
	p := plan{course{class: "operator upgraded, downgraded, restarted"}, egapp, 2}
	if got, want := p.name(), "lifecycle/operator-upgraded-downgraded-restarted/EGApp/2"; got != want {
		t.Errorf("the name is %s, want %s", got, want)
	}
}
