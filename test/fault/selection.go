// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"maps"
	"slices"

	"platformapp/test/fault/choice"
)

// scenariosOfSample is how many scenarios of each kind the sample takes its plans from: each needs its reference.
const scenariosOfSample = 4

// SampleScenarios returns the scenarios that a sample takes its plans from: of each kind the one whose start meets faults, and
// others, chosen by the seed.
func SampleScenarios(all []Scenario, seed uint64) []Scenario {
	var chosen []Scenario
	random := choice.Random(seed, "scenarios")
	for _, kind := range []string{EGApp, DemoMicroService} {
		n := 0
		for _, i := range random.Perm(len(all)) {
			if all[i].Kind == kind && all[i].Name != restartName && n < scenariosOfSample-1 {
				chosen = append(chosen, all[i])
				n++
			}
		}
		for _, s := range all {
			if s.Kind == kind && s.Name == restartName {
				chosen = append(chosen, s)
			}
		}
	}
	return chosen
}

// classOfKind is the class of the plan's faults and the kind of application that meets them.
func (p Plan) classOfKind() string { return p.Scenario.Kind + " " + p.Class() }

// unstruck returns the classes and kinds of which all plans are among those that found nothing to strike.
func unstruck(plans []Plan, unfired []string) []string {
	struck := map[string]bool{}
	for _, p := range plans {
		struck[p.classOfKind()] = struck[p.classOfKind()] || !slices.Contains(unfired, p.String())
	}
	maps.DeleteFunc(struck, func(_ string, is bool) bool { return is })
	return slices.Sorted(maps.Keys(struck))
}

// Sample returns one plan of each class and kind, chosen by the seed.
func Sample(plans []Plan, seed uint64) []Plan {
	random := choice.Random(seed, "sample")
	strata := map[string]bool{}
	var sample []Plan
	for _, i := range random.Perm(len(plans)) {
		stratum := plans[i].classOfKind()
		if !strata[stratum] {
			strata[stratum] = true
			sample = append(sample, plans[i])
		}
	}
	return sample
}

// Spread returns as many plans as the limit, spread over scenarios and classes of faults: it takes one of each in turn, chosen
// by the seed, until there are enough. A limit of 0 is none.
func Spread(plans []Plan, limit int, seed uint64) []Plan {
	if limit == 0 || limit >= len(plans) {
		return plans
	}
	random := choice.Random(seed, "spread")
	var strata []string
	of := map[string][]Plan{}
	for _, i := range random.Perm(len(plans)) {
		stratum := plans[i].Scenario.String() + " " + plans[i].Class()
		if of[stratum] == nil {
			strata = append(strata, stratum)
		}
		of[stratum] = append(of[stratum], plans[i])
	}
	var chosen []Plan
	for round := 0; len(chosen) < limit; round++ {
		for _, stratum := range strata {
			if round < len(of[stratum]) && len(chosen) < limit {
				chosen = append(chosen, of[stratum][round])
			}
		}
	}
	return chosen
}
