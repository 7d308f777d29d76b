// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"

	"platformapp/test/corpus"
)

// rendered is an application and the pods that it gets.
type rendered struct {
	name, kind string
	spec       map[string]any
	template   corev1.PodTemplateSpec
}

// is tells whether a field of the specification has the value.
func (r rendered) is(field, value string) bool { return r.spec[field] == value }

// renders returns the pods of everything that the corpus holds: each framework in each environment and size, the samples,
// the golden cases, and all fields.
func renders(t *testing.T) []rendered {
	t.Helper()
	inputs, err := corpus.Inputs(root)
	if err != nil {
		t.Fatal(err)
	}
	var all []rendered
	for _, input := range inputs {
		frozen, refusal, err := corpus.Operator{}.Render(input.Object, input.Cluster)
		if err != nil {
			t.Fatalf("%s: %v", input.Name, err)
		}
		if refusal != "" {
			continue
		}
		r := rendered{name: input.Name}
		r.kind, _ = input.Object["kind"].(string)
		r.spec, _ = input.Object["spec"].(map[string]any)
		serialized, err := json.Marshal(frozen.PodTemplate)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(serialized, &r.template); err != nil {
			t.Fatalf("%s: %v", input.Name, err)
		}
		all = append(all, r)
	}
	if len(all) < 100 {
		t.Fatalf("the corpus has %d applications that are carried out: is it read?", len(all))
	}
	return all
}

// S8. The newest version of the standards judges, whatever version the operator itself goes by.
func TestEveryPodSatisfiesItsPodSecurityStandard(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(level api.Level, r rendered) policy.AggregateCheckResult {
		version := api.LevelVersion{Level: level, Version: api.LatestVersion()}
		return policy.AggregateCheckResults(evaluator.EvaluatePod(version, &r.template.ObjectMeta, &r.template.Spec))
	}
	levels := map[api.Level]int{}
	for _, r := range renders(t) {
		level := api.LevelRestricted
		if r.kind == "DemoMicroService" || r.is("securityProfile", "Baseline") {
			level = api.LevelBaseline
			if judge(api.LevelRestricted, r).Allowed {
				t.Errorf("%s: the pods are restricted: this test sees nothing", r.name)
			}
		}
		levels[level]++
		if verdict := judge(level, r); !verdict.Allowed {
			t.Errorf("%s: %s: %s", r.name, level, verdict.ForbiddenDetail())
		}
	}
	if levels[api.LevelRestricted] == 0 || levels[api.LevelBaseline] == 0 {
		t.Errorf("judged were %v", levels)
	}
}

// rule is one that every pod keeps. Where an application asks for something else in so many words, it may have that.
type rule struct {
	holds func(rendered, corev1.Container) bool
	// asks tells whether the application asks for something else; nil is none.
	asks func(rendered) bool
}

// patches tells whether an application's patch speaks of a field.
func patches(field string) func(rendered) bool {
	return func(r rendered) bool {
		serialized, _ := json.Marshal(r.spec["podTemplatePatch"])
		return strings.Contains(string(serialized), field)
	}
}

func isGiven(field string) func(rendered) bool {
	return func(r rendered) bool { return r.spec[field] != nil }
}

func either(first, second func(rendered) bool) func(rendered) bool {
	return func(r rendered) bool { return first(r) || second(r) }
}

// rules are what S9 asks for, of the application's own container.
var rules = map[string]rule{
	"no token of the API server is mounted": {
		func(r rendered, _ corev1.Container) bool {
			return !ptr.Deref(r.template.Spec.AutomountServiceAccountToken, true)
		},
		either(isGiven("serviceAccountName"), patches("automountServiceAccountToken"))},
	"other applications are not told of in the environment": {
		func(r rendered, _ corev1.Container) bool { return !ptr.Deref(r.template.Spec.EnableServiceLinks, true) },
		patches("enableServiceLinks")},
	"system calls are filtered": {
		func(r rendered, _ corev1.Container) bool {
			context := r.template.Spec.SecurityContext
			return context != nil && context.SeccompProfile != nil && context.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault
		}, patches("seccompProfile")},
	"no program gains rights": {
		func(_ rendered, c corev1.Container) bool {
			return c.SecurityContext != nil && !ptr.Deref(c.SecurityContext.AllowPrivilegeEscalation, true)
		}, nil},
}

// rulesOfEGApps hold for EGApps alone: of a DemoMicroService nothing is known but its image, which any limit may be too low
// for. A LimitRange of the namespace gives it one.
var rulesOfEGApps = map[string]rule{
	"cpu and memory are asked for": {
		func(_ rendered, c corev1.Container) bool {
			return !c.Resources.Requests.Cpu().IsZero() && !c.Resources.Requests.Memory().IsZero()
		},
		isGiven("resources")},
	"memory is limited": {
		func(_ rendered, c corev1.Container) bool { return !c.Resources.Limits.Memory().IsZero() },
		isGiven("resources")},
	"the user is not root": {
		func(r rendered, _ corev1.Container) bool {
			return ptr.Deref(r.template.Spec.SecurityContext.RunAsNonRoot, false)
		},
		func(r rendered) bool { return r.is("securityProfile", "Baseline") }},
	"no capability is left": {
		func(_ rendered, c corev1.Container) bool {
			return c.SecurityContext.Capabilities != nil && slices.Contains(c.SecurityContext.Capabilities.Drop, "ALL")
		},
		func(r rendered) bool { return r.is("securityProfile", "Baseline") }},
	// Servers of Java and Python write beside themselves: internal/profile says more.
	"what is built with Go cannot write to its image": {
		func(_ rendered, c corev1.Container) bool {
			return ptr.Deref(c.SecurityContext.ReadOnlyRootFilesystem, false)
		},
		func(r rendered) bool { return !r.is("framework", "go") || patches("readOnlyRootFilesystem")(r) }},
	"readiness is asked for": {
		func(_ rendered, c corev1.Container) bool { return c.ReadinessProbe != nil },
		func(r rendered) bool {
			return patches("readinessProbe")(r) || isWorker(r) || len(r.template.Spec.Containers[0].Ports) == 0
		}},
	"the image's tag says which one it is": {
		func(_ rendered, c corev1.Container) bool {
			return c.Image != "" && !strings.HasSuffix(c.Image, ":latest") && strings.ContainsAny(filepath.Base(c.Image), ":@")
		},
		isGiven("image")},
}

func isWorker(r rendered) bool {
	service, _ := r.spec["service"].(map[string]any)
	return service["type"] == "None"
}

// S9
func TestEveryPodIsHardened(t *testing.T) {
	checked := map[string]int{}
	for _, r := range renders(t) {
		of := maps.Clone(rules)
		if r.kind == "EGApp" {
			maps.Copy(of, rulesOfEGApps)
		}
		for what, rule := range of {
			if rule.asks != nil && rule.asks(r) {
				continue
			}
			checked[what]++
			if !rule.holds(r, r.template.Spec.Containers[0]) {
				t.Errorf("%s: it does not hold that %s", r.name, what)
			}
		}
	}
	for what := range maps.Keys(rules) {
		if checked[what] < 50 {
			t.Errorf("that %s was looked at in %d applications", what, checked[what])
		}
	}
	for what := range rulesOfEGApps {
		if checked[what] < 10 {
			t.Errorf("that %s was looked at in %d applications", what, checked[what])
		}
	}
}
