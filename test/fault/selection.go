// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// Selection chooses plans by their names.
type Selection struct {
	patterns []*regexp.Regexp
}

// NewSelection reads regular expressions that stand between blanks; each has to match the whole name of a plan.
func NewSelection(text string) (*Selection, error) {
	s := &Selection{}
	for field := range strings.FieldsSeq(text) {
		pattern, err := regexp.Compile("^(?:" + field + ")$")
		if err != nil {
			return nil, err
		}
		s.patterns = append(s.patterns, pattern)
	}
	return s, nil
}

// Quote returns the expression that selects a plan and no other.
func Quote(p Plan) string { return regexp.QuoteMeta(p.String()) }

// Has tells whether a plan is selected.
func (s *Selection) Has(p Plan) bool {
	return slices.ContainsFunc(s.patterns, func(pattern *regexp.Regexp) bool { return pattern.MatchString(p.String()) })
}

// MayHave tells whether a plan of a scenario may be selected: what its name begins with fits.
func (s *Selection) MayHave(scenario Scenario) bool {
	begin := scenario.String() + "/"
	return slices.ContainsFunc(s.patterns, func(pattern *regexp.Regexp) bool {
		literal := literalBeginning(pattern)
		return strings.HasPrefix(literal, begin) || strings.HasPrefix(begin, literal)
	})
}

// literalBeginning returns what all matches of an anchored pattern begin with; an escaped character is one too.
func literalBeginning(pattern *regexp.Regexp) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(pattern.String(), "^(?:"), ")$")
	unanchored, err := regexp.Compile(inner)
	if err != nil {
		return ""
	}
	literal, _ := unanchored.LiteralPrefix()
	return literal
}

// scenariosOfSample is how many scenarios of each kind the sample takes its plans from: each needs its reference.
const scenariosOfSample = 4

// SampleScenarios returns the scenarios that a sample takes its plans from: of each kind the one whose start meets faults, and
// others by chance.
func SampleScenarios(all []Scenario, seed uint64) []Scenario {
	var chosen []Scenario
	random := rand.New(rand.NewPCG(seed, 0))
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

// Sample returns one plan of each class and kind, chosen by the seed.
func Sample(plans []Plan, seed uint64) []Plan {
	random := rand.New(rand.NewPCG(seed, 1))
	strata := map[string]bool{}
	var sample []Plan
	for _, i := range random.Perm(len(plans)) {
		stratum := plans[i].Scenario.Kind + " " + plans[i].Class()
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
	random := rand.New(rand.NewPCG(seed, 2))
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
