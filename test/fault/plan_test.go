// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"platformapp/test/fault/proxy"
)

// referenceOfTest is a reference with requests and watches of each sort.
func referenceOfTest() *Reference {
	return &Reference{
		Writes: map[string]int{
			"apply deployments.apps": 2, "apply services": 1, "delete ingresses.networking.k8s.io": 1,
			"patch egapps.egplatform.platform.evillgenius.com/status": 2,
		},
		Reads:   map[string]int{"/api": 1, "list deployments.apps": 1, "watch pods": 1, "get services": 1},
		Changed: map[string]bool{"Deployment": true, "Pod": true},
	}
}

// plansOfTest returns the plans of all scenarios by referenceOfTest.
func plansOfTest(seed uint64) []Plan {
	var plans []Plan
	for _, s := range Scenarios() {
		plans = append(plans, Plans(s, referenceOfTest(), seed)...)
	}
	return plans
}

func names(plans []Plan) []string {
	all := make([]string, len(plans))
	for i, p := range plans {
		all[i] = p.String()
	}
	return all
}

// TestScenarios tells that the names of scenarios are of use, and that both kinds have a start to meet faults in.
func TestScenarios(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Scenarios() {
		if seen[s.String()] || strings.ContainsAny(s.Name, " /") || (s.Kind != EGApp && s.Kind != DemoMicroService) {
			t.Errorf("%q is there twice or has no good name", s)
		}
		seen[s.String()] = true
		if len(s.Steps) == 0 {
			t.Errorf("%s has no steps for faults", s)
		}
		for _, step := range s.steps() {
			if step.Do == nil || step.Holds == nil || step.Name == "" {
				t.Errorf("a step of %s lacks something: %q", s, step.Name)
			}
		}
	}
	for _, kind := range []string{EGApp, DemoMicroService} {
		if !seen[kind+"/"+restartName] {
			t.Errorf("%s has no scenario %s", kind, restartName)
		}
	}
}

// TestPlanNames tells that each plan can be found by its name.
func TestPlanNames(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range plansOfTest(1) {
		name := p.String()
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if strings.ContainsAny(name, " \t'\n") {
			t.Errorf("%q cannot be given in a command", name)
		}
		if !strings.HasPrefix(name, p.Scenario.String()+"/") {
			t.Errorf("%s does not begin with its scenario", name)
		}
	}
	if len(seen) < 1000 {
		t.Errorf("there are %d plans", len(seen))
	}
}

// TestPlansAreTheSame tells that a seed makes the same plans in the same order, and that another one makes other pairs.
func TestPlansAreTheSame(t *testing.T) {
	one, again, other := names(plansOfTest(1)), names(plansOfTest(1)), names(plansOfTest(2))
	if !slices.Equal(one, again) {
		t.Error("one seed makes different plans")
	}
	isPair := func(name string) bool { return strings.Contains(name, "/two/") }
	if slices.Equal(slices.DeleteFunc(slices.Clone(one), func(n string) bool { return !isPair(n) }),
		slices.DeleteFunc(slices.Clone(other), func(n string) bool { return !isPair(n) })) {
		t.Error("two seeds make the same pairs")
	}
	if !slices.Equal(slices.DeleteFunc(one, isPair), slices.DeleteFunc(other, isPair)) {
		t.Error("two seeds make other plans of a single fault")
	}
}

// TestPlansAreComplete tells that each write meets each fault of writes, each read of the start each fault of reads, and
// each watch each of watches.
func TestPlansAreComplete(t *testing.T) {
	r := referenceOfTest()
	restart := Scenarios()[slices.IndexFunc(Scenarios(), func(s Scenario) bool { return s.Name == restartName })]
	have := map[string]bool{}
	classes := map[string]bool{}
	for _, p := range Plans(restart, r, 1) {
		have[p.Faults[0].Name] = have[p.Faults[0].Name] || len(p.Faults) == 1
		classes[p.Class()] = true
	}
	want := func(name string) {
		t.Helper()
		if !have[name] {
			t.Errorf("no plan has the fault %s", name)
		}
	}
	faults := []string{
		"killed-before", "killed-after", "answer-lost", "reset", "hang", "answer-hang", "429", "409", "422", "403", "500", "503", "504",
	}
	for _, write := range targets(r.Writes) {
		for _, fault := range faults {
			want(fault + "/" + write.String())
		}
	}
	for _, read := range []string{"api-1", "list-deployments-1", "watch-pods-1"} {
		for _, fault := range []string{"reset", "hang", "429", "403", "500", "503", "504", "killed"} {
			want("start-" + fault + "/" + read)
		}
	}
	for _, resource := range []string{"deployments", "pods"} {
		for _, fault := range []string{"frozen", "missed", "delayed"} {
			want(fault + "/" + resource)
		}
	}
	for _, fault := range []string{"cut", "repeated", "shuffled", "reopened-403", "reopened-429", "reopened-500"} {
		want(fault + "/all")
	}
	running := names(Plans(Scenario{Kind: EGApp, Name: "x"}, r, 1))
	for _, fault := range []string{"get-reset", "get-500", "get-403"} {
		if name := "EGApp/x/" + fault + "/get-services-1"; !slices.Contains(running, name) {
			t.Errorf("there is no plan %s", name)
		}
	}
	if !classes["two faults"] || classes[""] {
		t.Errorf("the classes are %v", classes)
	}
	for _, p := range Plans(Scenarios()[0], r, 1) {
		if strings.HasPrefix(p.Class(), "start") && !strings.HasPrefix(p.Scenario.Name, restartName) {
			t.Errorf("%s strikes a start where there is none", p)
		}
	}
}

// TestPlansSpareWhatScenariosUse tells that what a scenario uses itself meets no fault, and all else does.
func TestPlansSpareWhatScenariosUse(t *testing.T) {
	r := referenceOfTest()
	all := names(Plans(Scenario{Kind: EGApp, Name: "x"}, r, 1))
	some := names(Plans(Scenario{Kind: EGApp, Name: "x", Uses: []string{"apply-deployments-1", "watch pods"}}, r, 1))
	isPair := func(name string) bool { return strings.Contains(name, "/two/") }
	for _, name := range some {
		if strings.Contains(name, "apply-deployments-1") {
			t.Errorf("%s strikes what the scenario uses", name)
		}
	}
	spared := slices.DeleteFunc(all, func(name string) bool { return isPair(name) || slices.Contains(some, name) })
	for _, name := range spared {
		isUsed := strings.HasSuffix(name, "/apply-deployments-1")
		if !isUsed && name != "EGApp/x/frozen/pods" && name != "EGApp/x/missed/pods" {
			t.Errorf("%s is left out", name)
		}
	}
	if len(spared) < 3 {
		t.Errorf("left out are %q", spared)
	}
}

// TestTargets tells how requests are named.
func TestTargets(t *testing.T) {
	for key, want := range map[string]string{
		"apply deployments.apps": "apply-deployments-3",
		"apply services":         "apply-services-3",
		"patch egapps.egplatform.platform.evillgenius.com/status": "patch-egapps-status-3",
		"/apis/apps/v1": "apis-apps-v1-3",
	} {
		if got := (target{key, 3}).String(); got != want {
			t.Errorf("%s is named %s, want %s", key, got, want)
		}
	}
	if got := targets(map[string]int{"b": 2, "a": 1}); !slices.Equal(got, []target{{"a", 1}, {"b", 1}, {"b", 2}}) {
		t.Errorf("the targets are %v", got)
	}
}

// TestCount tells that requests are counted by their kind, those that are to be counted.
func TestCount(t *testing.T) {
	requests := []proxy.Request{
		{Verb: "apply", Resource: "services"}, {Verb: "apply", Resource: "services", Name: "other"},
		{Verb: "get", Resource: "services"}, {Verb: "create", Resource: "events"},
	}
	if got := count(requests, proxy.Request.IsWrite); len(got) != 1 || got["apply services"] != 2 {
		t.Errorf("counted %v", got)
	}
	got := common(map[string]int{"a": 2, "b": 1, "c": 1}, map[string]int{"a": 1, "b": 3})
	if !maps.Equal(got, map[string]int{"a": 1, "b": 1}) {
		t.Errorf("in common are %v", got)
	}
}
