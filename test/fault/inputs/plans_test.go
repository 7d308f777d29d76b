// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"platformapp/test/fault/results"
)

// The environment of the campaign: all plans or a sample, which sample, and the name of a single plan.
const (
	fullEnv, seedEnv, planEnv = "FAULT", "FAULT_SEED", "FAULT_PLAN"
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
type selection struct {
	full bool
	seed uint64
	only *regexp.Regexp
	name string
}

func selected(t testing.TB) selection {
	t.Helper()
	s := selection{full: os.Getenv(fullEnv) == "full", seed: 1, name: os.Getenv(planEnv)}
	if text := os.Getenv(seedEnv); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
		s.seed = seed
	}
	if s.name != "" {
		only, err := regexp.Compile("^(?:" + s.name + ")$")
		if err != nil {
			only = regexp.MustCompile("^" + regexp.QuoteMeta(s.name) + "$")
		}
		s.only = only
	}
	return s
}

// areas begin the names of the plans of this package.
var areas = []string{"value/", "name/", "change/", "choices/", "features/", another.name, "restart/"}

// isElsewhere tells that the plan that is asked for is not of this package, as far as a pattern shows how it begins.
func (s selection) isElsewhere() bool {
	begins := func(area string) bool { return strings.HasPrefix(s.name, area) }
	return s.only != nil && unicode.IsLetter(rune(s.name[0])) && !slices.ContainsFunc(areas, begins)
}

// matches tells whether a plan was asked for by its name, or by a pattern of names.
func (s selection) matches(name string) bool { return name == s.name || s.only.MatchString(name) }

// sample returns the items to be tried: all in a full campaign and when names are asked for, else so many by the seed.
func sample[T any](s selection, items []T, count int) []T {
	if s.full || s.only != nil || len(items) <= count {
		return items
	}
	shuffled := make([]T, 0, count)
	for _, i := range rand.New(rand.NewPCG(s.seed, 0)).Perm(len(items))[:count] {
		shuffled = append(shuffled, items[i])
	}
	return shuffled
}

// carryOut carries out those plans that are selected, several at a time, and records what came of each.
func (s selection) carryOut(t *testing.T, plans []plan) {
	t.Helper()
	var chosen []plan
	for _, p := range plans {
		if s.only == nil || s.matches(p.name) {
			chosen = append(chosen, p)
		}
	}
	runAll(chosen, func(p plan, violations []string) { s.record(t, p, violations) })
	t.Logf("%d of %d plans", len(chosen), len(plans))
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
				if s.only == nil || s.matches(name) {
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
	if s.only == nil {
		return w
	}
	last := 0
	for i := range w.states[1:] {
		if s.matches(w.step(i + 1)) {
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
		t.Errorf("%s\n  violates: %s\n  again: %s='%s' make test-fault", p.name, violation, planEnv, p.name)
	}
}
