// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"slices"
	"strings"

	"platformapp/test/fault/choice"
)

// Plan is a scenario with faults.
type Plan struct {
	Scenario Scenario
	Faults   []Fault
}

// String is the plan's name, by which it is carried out again.
func (p Plan) String() string {
	names := make([]string, len(p.Faults))
	for i, fault := range p.Faults {
		names[i] = strings.ReplaceAll(fault.Name, "/", ":")
	}
	if len(names) == 1 {
		return p.Scenario.String() + "/" + p.Faults[0].Name
	}
	return p.Scenario.String() + "/two/" + strings.Join(names, "+")
}

// Class is the row of the table of results that the plan counts in.
func (p Plan) Class() string {
	if len(p.Faults) > 1 {
		return "two faults"
	}
	return p.Faults[0].Class
}

// Plans returns all plans of a scenario, in a fixed order: each fault at each request where the reference shows it can
// strike, and as many pairs of faults at writes as there are writes, chosen by the seed.
func Plans(s Scenario, r *Reference, seed uint64) []Plan {
	var plans []Plan
	add := func(faults ...Fault) { plans = append(plans, Plan{Scenario: s, Faults: faults}) }
	var atWrites []Fault
	writes := slices.DeleteFunc(targets(r.Writes), func(t target) bool { return slices.Contains(s.Uses, t.String()) })
	for _, t := range writes {
		for _, f := range writeFaults() {
			atWrites = append(atWrites, f.at(t))
			add(f.at(t))
		}
		for _, f := range childFaults(s, t) {
			add(f)
		}
	}
	for _, t := range targets(r.Reads) {
		switch {
		case t.isLive():
			for _, f := range readFaults(t) {
				add(f)
			}
		case meetsAtStart(s, t):
			for _, f := range startFaults(t) {
				add(f)
			}
		}
	}
	keys := watched(r)
	for _, key := range keys {
		if !slices.Contains(s.Uses, key) {
			for _, f := range holdFaults(key) {
				add(f)
			}
		}
		add(delayFault(key))
	}
	for _, f := range allWatchFaults(keys, seed) {
		add(f)
	}
	random := choice.Random(seed, s.String())
	for range len(writes) {
		first, second := atWrites[random.IntN(len(atWrites))], atWrites[random.IntN(len(atWrites))]
		if first.Name != second.Name {
			add(first, second)
		}
	}
	return unique(plans)
}

// unique drops plans that chance has made twice.
func unique(plans []Plan) []Plan {
	names := map[string]bool{}
	return slices.DeleteFunc(plans, func(p Plan) bool {
		isKnown := names[p.String()]
		names[p.String()] = true
		return isKnown
	})
}

// watched returns the keys of the watches whose objects have a part in the scenario.
func watched(r *Reference) []string {
	var keys []string
	for kind := range r.Changed {
		keys = append(keys, watchKey(kind))
	}
	slices.Sort(keys)
	return keys
}

// watchKey is the key of the watches of a kind.
func watchKey(kind string) string {
	resource := recordedKinds[kind]
	return strings.TrimSuffix(fmt.Sprintf("watch %s.%s", resource.Resource, resource.Group), ".")
}
