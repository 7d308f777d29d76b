// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"
)

// fieldWalks lead one application of each chosen field through all that the field may be: from good to each other state and
// back; and from one state that is carried out to the next, until the field is left out.
func (s *suite) fieldWalks(t *testing.T, selection selection, count int) []walk {
	t.Helper()
	type through struct {
		name   string
		states []State
	}
	var all []through
	chosen := chosenFields(s.seeds)
	for _, seed := range s.seeds {
		for _, f := range chosen[seed.Name] {
			states, err := seed.states(f)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, through{fmt.Sprintf("change/%s/%s", seed.Name, f.Path), walkable(states)})
		}
	}
	var mu sync.Mutex
	var walks []walk
	var plans []plan
	for _, one := range sample(selection, all, count) {
		if !selection.Plans.MayHave(one.name) {
			continue
		}
		plans = append(plans, plan{run: func() []string {
			found := s.walksThrough(t.Context(), one.name, one.states)
			mu.Lock()
			defer mu.Unlock()
			walks = append(walks, found...)
			return nil
		}})
	}
	runAll(plans, func(plan, []string) {})
	slices.SortFunc(walks, func(a, b walk) int { return strings.Compare(a.name, b.name) })
	return walks
}

// walkedStates is through how many states of a field a walk leads at most.
const walkedStates = 20

// walkable returns the states of a field that a walk leads through: those that the schema may admit, and of more than a walk
// takes the first, which are the seed and that without the field, and others from all over the rest.
func walkable(states []State) []State {
	var admitted []State
	for _, state := range states {
		if !state.Refused {
			admitted = append(admitted, state)
		}
	}
	if len(admitted) <= walkedStates {
		return admitted
	}
	walked := slices.Clone(admitted[:2])
	rest := admitted[2:]
	for i := range walkedStates - 2 {
		walked = append(walked, rest[i*len(rest)/(walkedStates-2)])
	}
	return walked
}

// walksThrough returns the walks through those states that the API server takes.
func (s *suite) walksThrough(ctx context.Context, name string, states []State) []walk {
	var taken, carriedOut, without []State
	for _, state := range states {
		o := s.fresh(ctx, name, state)
		if o.problem != "" || !o.answer.isAccepted() {
			continue
		}
		taken = append(taken, state)
		switch {
		case state.Name == leftOut:
			without = []State{state}
		case !o.standing.isStalled:
			carriedOut = append(carriedOut, state)
		}
	}
	walks := []walk{{class: "good, another, good", name: name, states: goodBadGood(taken)}}
	return append(walks, walk{
		class: "set, changed, left out", name: name + " on", states: slices.Concat(without, carriedOut, without),
	})
}

// changedChoices is how many of the opinion's four choices a plan changes at most: what one choice means can depend on
// another one, but no table has more than two of them.
const changedChoices = 2

// choiceWalks change each set of the opinion's choices to each other one, as far as that differs in few, and back.
func (s *suite) choiceWalks(t *testing.T) []walk {
	t.Helper()
	var states []State
	for _, framework := range []string{"java", "python", "go"} {
		for _, instanceType := range []string{"lowMem", "highMem", "highCPU", "balanced"} {
			for _, environment := range []string{"dev", "stage", "prod"} {
				pods := fmt.Sprintf("%s %s %s", framework, instanceType, environment)
				for _, count := range []int{0, 1, 3} {
					state := s.specified(t, fmt.Sprintf("%s %d", pods, count), fmt.Sprintf(
						"{framework: %s, instanceType: %s, environment: %s, replicaCount: %d}", framework, instanceType, environment, count))
					state.pods = pods
					states = append(states, state)
				}
			}
		}
	}
	var walks []walk
	for i, from := range states {
		walked := []State{from}
		for _, to := range states[i+1:] {
			if differences(from.Name, to.Name) <= changedChoices {
				walked = append(walked, to)
			}
		}
		walks = append(walks, walk{class: "a change of choices", name: "choices/" + from.Name, states: goodBadGood(walked)})
	}
	return walks
}

// differences counts the words in which two texts of as many words differ.
func differences(a, b string) int {
	count, others := 0, strings.Fields(b)
	for i, word := range strings.Fields(a) {
		if word != others[i] {
			count++
		}
	}
	return count
}

// features are what an application may have beside the least.
var features = []struct{ name, spec string }{
	{"java", "framework: java"},
	{"prod", "environment: prod"},
	{"three pods", "replicaCount: 3"},
	{"stopped", "replicaCount: 0"},
	{"autoscaling", "autoscaling: {maxReplicas: 4, targetCPUUtilizationPercentage: 70}"},
	{"Ingress", "expose: {type: Ingress, hosts: [a.example.com]}"},
	{"monitoring", "monitoring: {port: http}"},
	{"network policy", "networkPolicy: {isolation: Namespace}"},
	{"worker", "service: {type: None}"},
	{"headless", "service: {type: Headless}"},
	{"ports", "ports: [{name: http, containerPort: 9000}, {name: dns, containerPort: 53, protocol: UDP}]"},
	{"files", "files: [{mountPath: /etc/a, configMap: {name: settings}}]"},
	{"variables", "env: [{name: LEVEL, valueFrom: {configMapKeyRef: {name: settings, key: level}}}]"},
	{"probes", "probes: {path: /healthz}"},
	{"account", "serviceAccountName: robot"},
	{"baseline", "securityProfile: Baseline"},
	{"recreate", "rollout: {strategy: Recreate}"},
	{"resources", "resources: {limits: {memory: 1Gi}}"},
	{"sidecar", "podTemplatePatch: {spec: {containers: [{name: sidecar, image: \"proxy:1\"}]}}"},
}

// featureWalks switch each pair of features on and off in both orders.
func (s *suite) featureWalks(t *testing.T) []walk {
	t.Helper()
	const least = "framework: go\nenvironment: dev\n"
	with := func(i, j int) State {
		spec, name := map[string]any{}, "none"
		for _, n := range []int{i, j} {
			if n < 0 {
				continue
			}
			name = features[n].name
			if err := yaml.Unmarshal([]byte(features[n].spec), &spec); err != nil {
				t.Fatal(err)
			}
		}
		if i >= 0 && j >= 0 {
			name = features[i].name + " and " + features[j].name
		}
		content := map[string]any{}
		if err := yaml.Unmarshal([]byte(least), &content); err != nil {
			t.Fatal(err)
		}
		maps.Copy(content, spec)
		return s.specified(t, name, text(content))
	}
	var walks []walk
	for i := range features {
		for j := range i {
			none, first, second, both := with(-1, -1), with(i, -1), with(-1, j), with(i, j)
			walks = append(walks, walk{
				class: "features on and off", name: "features/" + both.Name,
				states: []State{none, first, both, second, none, second, both, first, none},
			})
		}
	}
	return walks
}

// specified is the state of an EGApp with a specification, in YAML.
func (s *suite) specified(t *testing.T, name, spec string) State {
	t.Helper()
	var content any
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		t.Fatal(err)
	}
	kind := s.kinds["EGApp"]
	return State{Name: name, Kind: kind, Text: text(map[string]any{
		"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind,
		"metadata": map[string]any{"name": nameMark}, "spec": content,
	})}
}
