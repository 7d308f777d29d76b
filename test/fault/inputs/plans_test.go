// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"slices"
	"sync"
	"testing"

	"platformapp/test/fault/choice"
	"platformapp/test/fault/results"
)

// workers is how many plans are under way at once: the operator works on eight applications at a time.
const workers = 32

// plan is one thing that is tried.
type plan struct {
	// class and kind are those of the table of results.
	class, kind string
	name        string
	// run returns what is violated.
	run func() []string
}

// selection says which plans are carried out.
type selection struct{ choice.Choice }

func selected(t testing.TB) selection {
	t.Helper()
	return selection{choice.ForTest(t)}
}

// areas begin the names of the plans of this package.
var areas = []string{"value/", "effect/", "name/", "change/", "choices/", "features/", another.name, "restart/"}

// isElsewhere tells that the plans that are asked for are not of this package, as far as a pattern shows how they begin.
func (s selection) isElsewhere() bool { return !slices.ContainsFunc(areas, s.Plans.MayHave) }

// sample returns the items to be tried: all in a full campaign and when names are asked for, else so many by the seed.
func sample[T any](s selection, items []T, count int) []T {
	if s.Full || s.Plans.Given() || len(items) <= count {
		return items
	}
	shuffled := make([]T, 0, count)
	for _, i := range choice.Random(s.Seed, "inputs").Perm(len(items))[:count] {
		shuffled = append(shuffled, items[i])
	}
	return shuffled
}

// carryOut carries out those plans that are selected, several at a time, and records what came of each.
func (s selection) carryOut(t *testing.T, plans []plan) {
	t.Helper()
	all := len(plans)
	plans = slices.DeleteFunc(plans, func(p plan) bool { return !s.Plans.Has(p.name) })
	runAll(plans, func(p plan, violations []string) { s.record(t, p, violations) })
	t.Logf("%d of %d plans", len(plans), all)
}

// walkAll leads applications through walks, several at a time, and records what came of each change.
func (s selection) walkAll(t *testing.T, suite *suite, walks []walk) {
	t.Helper()
	var due []plan
	for _, w := range walks {
		w = s.shortened(w)
		if len(w.states) < 2 {
			continue
		}
		due = append(due, plan{name: w.name, run: func() []string {
			suite.runWalk(t.Context(), w, func(name string, violations []string) {
				if s.Plans.Has(name) {
					s.record(t, plan{class: w.class, kind: w.states[0].Kind.Kind, name: name}, violations)
				}
			})
			return nil
		}})
	}
	runAll(due, func(plan, []string) {})
	t.Logf("%d walks", len(due))
}

// shortened returns a walk up to the last change that was asked for, which is all of it unless names were.
func (s selection) shortened(w walk) walk {
	if !s.Plans.Given() {
		return w
	}
	last := 0
	for i := range w.states[1:] {
		if s.Plans.Has(w.step(i + 1)) {
			last = i + 2
		}
	}
	w.states = w.states[:last]
	return w
}

// runAll runs plans, several at a time.
func runAll(plans []plan, tell func(plan, []string)) {
	due := make(chan plan)
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for p := range due {
				tell(p, p.run())
			}
		})
	}
	for _, p := range plans {
		due <- p
	}
	close(due)
	done.Wait()
}

func (s selection) record(t *testing.T, p plan, violations []string) {
	t.Helper()
	results.Record(p.class, p.kind, p.name, violations...)
	for _, violation := range violations {
		t.Errorf("%s\n  violates: %s\n  again: %s", p.name, violation, s.Replay(p.name))
	}
}

// TestEachPlanCanBeAskedFor tells that what is quoted of a plan's name asks for it, and for nothing of another package.
func TestEachPlanCanBeAskedFor(t *testing.T) {
	s := &suite{}
	s.kinds, s.seeds = readAll(t)
	names := []string{another.name, "restart/EGApp"}
	for _, p := range slices.Concat(s.valuePlans(t), s.effectPlans(t), s.namePlans(t)) {
		names = append(names, p.name)
	}
	for _, w := range slices.Concat(s.choiceWalks(t), s.featureWalks(t)) {
		if len(w.states) > 1 {
			names = append(names, w.step(1))
		}
	}
	for _, name := range names {
		quoted := choice.Quote(name)
		asked, err := choice.ParseNames(quoted)
		if err != nil || !asked.Has(name) || asked.Has(name+"1") || (selection{choice.Choice{Plans: asked}}).isElsewhere() {
			t.Errorf("%q is quoted as %s (%v)", name, quoted, err)
		}
	}
	t.Logf("%d names", len(names))
	for text, want := range map[string]bool{
		"value/.*": false, ".*": false, "(name|value)/.*": false, `change/size/spec\.env:.* outage/.*`: false,
		"outage/rights/.*": true, "EGApp/.*|lifecycle/.*": false, "EGApp/.* lifecycle/.*": true,
	} {
		asked, err := choice.ParseNames(text)
		if got := (selection{choice.Choice{Plans: asked}}).isElsewhere(); err != nil || got != want {
			t.Errorf("%s asks for plans of other packages alone: %t (%v)", text, got, err)
		}
	}
}
