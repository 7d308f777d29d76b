// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// planNamed makes a plan of this name.
func planNamed(kind, scenario, class, fault string) Plan {
	return Plan{Scenario: Scenario{Kind: kind, Name: scenario}, Faults: []Fault{{Class: class, Name: fault}}}
}

// TestSample tells that a sample has one plan of each class and kind, and which depends on the seed.
func TestSample(t *testing.T) {
	plans := plansOfTest(1)
	want := map[string]bool{}
	for _, p := range plans {
		want[p.Scenario.Kind+" "+p.Class()] = true
	}
	sample := Sample(plans, 1)
	got := map[string]bool{}
	for _, p := range sample {
		got[p.Scenario.Kind+" "+p.Class()] = true
	}
	if len(got) != len(want) || len(sample) != len(want) {
		t.Errorf("the sample has %d plans of %d classes, of %d", len(sample), len(got), len(want))
	}
	if !slices.Equal(names(sample), names(Sample(plans, 1))) {
		t.Error("one seed chooses different plans")
	}
	if slices.Equal(names(sample), names(Sample(plans, 2))) {
		t.Error("two seeds choose the same plans")
	}
}

// TestUnstruck tells that a class is struck when one of its plans is, for each kind apart.
func TestUnstruck(t *testing.T) {
	plans := []Plan{
		planNamed(EGApp, "create", "409", "409/a"), planNamed(EGApp, "create", "409", "409/b"),
		planNamed(DemoMicroService, "create", "409", "409/a"), planNamed(EGApp, "create", "500", "500/a"),
	}
	for name, test := range map[string]struct {
		unfired []Plan
		want    []string
	}{
		"all struck":         {nil, nil},
		"one of two did":     {plans[:1], nil},
		"none of the two":    {plans[:2], []string{"EGApp 409"}},
		"none of the kind":   {plans[2:3], []string{"DemoMicroService 409"}},
		"none of all struck": {plans, []string{"DemoMicroService 409", "EGApp 409", "EGApp 500"}},
	} {
		if got := unstruck(plans, names(test.unfired)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestSpread tells that a limit is kept, that no plan comes twice, and that no class of a scenario comes a second time
// before each has come once.
func TestSpread(t *testing.T) {
	plans := plansOfTest(1)
	if got := Spread(plans, 0, 1); len(got) != len(plans) {
		t.Errorf("no limit leaves %d of %d plans", len(got), len(plans))
	}
	strata := map[string]int{}
	for _, p := range plans {
		strata[p.Scenario.String()+" "+p.Class()]++
	}
	for _, limit := range []int{1, len(strata) - 1, len(strata), len(strata) + 50, len(plans) - 1, len(plans), len(plans) + 1} {
		spread := Spread(plans, limit, 1)
		if len(spread) != min(limit, len(plans)) || len(unique(slices.Clone(spread))) != len(spread) {
			t.Errorf("a limit of %d leaves %d plans", limit, len(spread))
		}
		have := map[string]int{}
		for _, p := range spread {
			have[p.Scenario.String()+" "+p.Class()]++
		}
		most := slices.Max(slices.Collect(maps.Values(have)))
		for stratum, n := range strata {
			if have[stratum] < min(n, most-1) {
				t.Errorf("a limit of %d leaves %d of %q and %d of another", limit, have[stratum], stratum, most)
			}
		}
	}
	of := func(seed uint64) []string { return names(Spread(plans, 500, seed)) }
	if first := of(1); !slices.Equal(first, of(1)) || slices.Equal(first, of(2)) {
		t.Error("the choice does not depend on the seed alone")
	}
}

// TestSampleScenarios tells that a sample has scenarios of both kinds, among them the restart.
func TestSampleScenarios(t *testing.T) {
	of := func(seed uint64) string {
		var chosen []string
		for _, s := range SampleScenarios(Scenarios(), seed) {
			chosen = append(chosen, s.String())
		}
		return strings.Join(chosen, " ")
	}
	chosen := strings.Fields(of(1))
	unique := slices.Compact(slices.Sorted(slices.Values(chosen)))
	if len(unique) != 2*scenariosOfSample || len(chosen) != len(unique) {
		t.Errorf("chosen are %q", chosen)
	}
	for _, kind := range []string{EGApp, DemoMicroService} {
		if !slices.Contains(chosen, kind+"/"+restartName) {
			t.Errorf("chosen are %q", chosen)
		}
	}
	if again := of(1); again != strings.Join(chosen, " ") || again == of(2) {
		t.Errorf("the seeds 1, 1 and 2 choose %q, %q and %q", chosen, again, of(2))
	}
}
