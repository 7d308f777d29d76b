// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// FuzzPodTemplatePatch: whatever the patch is, it is refused or gives pods that keep what
// the operator gives them.
func FuzzPodTemplatePatch(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"spec":null}`, `{"metadata":{"labels":{"a":"b"}}}`,
		`{"spec":{"containers":[{"name":"main","ports":[{"containerPort":8080,"protocol":"UDP"}],"env":[{"name":"A","value":"b"}]}]}}`,
		`{"spec":{"containers":[{"name":"x","image":"y"}],"initContainers":[{"name":"z","image":"y","restartPolicy":"Always"}]}}`,
		`{"spec":{"topologySpreadConstraints":[{"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule","maxSkew":1}]}}`,
		`{"metadata":{"annotations":{"platform.evillgenius.com/remove":"spec.containers[main].readinessProbe spec.nodeSelector"}}}`,
		`{"spec":{"volumes":[{"name":"a","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}],"securityContext":{"runAsUser":5}}}`,
		`{"spec":{"containers":[{"name":"main","$patch":"delete"},null,{"resources":{"limits":{"cpu":"1e"}}}]}}`,
	} {
		f.Add([]byte(seed))
	}
	judge := podSecurityJudge(f)
	base := workloadWith(f, `{}`)
	f.Fuzz(func(t *testing.T, raw []byte) {
		expectRefusedOrKept(t, judge, base, raw)
	})
}

// Where the fuzzer changes bytes, this changes parts of patches that are valid otherwise,
// and so comes further.
func TestSpoiltPatchIsRefusedOrKeepsThePods(t *testing.T) {
	judge := podSecurityJudge(t)
	base := workloadWith(t, `{}`)
	rapid.Check(t, func(t *rapid.T) {
		var document any
		readInto(t, json.RawMessage(anyPatch.Draw(t, "patch")), &document)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			document = spoil(t, document)
		}
		raw, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		expectRefusedOrKept(t, judge, base, raw)
	})
}

// spoil replaces a part of a JSON value, or adds one to it.
func spoil(t *rapid.T, value any) any {
	parts := []any{
		nil, true, "", "main", "orders", "x", "*", -1.0, 0.0, 8080.0, 1e30, []any{}, map[string]any{}, []any{nil},
		map[string]any{"name": "main"}, map[string]any{"name": "x", "image": "y"}, map[string]any{"$patch": "replace"},
	}
	switch value := value.(type) {
	case map[string]any:
		if len(value) > 0 && rapid.IntRange(0, 9).Draw(t, "go on") > 0 {
			key := rapid.SampledFrom(slices.Sorted(maps.Keys(value))).Draw(t, "field")
			value[key] = spoil(t, value[key])
			return value
		}
		value[rapid.SampledFrom([]string{"name", "spec", "metadata", "containers", "volumes", "ports", "env", "value", "valueFrom", "labels", "securityContext"}).Draw(t, "new field")] = rapid.SampledFrom(parts).Draw(t, "part")
		return value
	case []any:
		if len(value) > 0 && rapid.IntRange(0, 9).Draw(t, "go on") > 0 {
			i := rapid.IntRange(0, len(value)-1).Draw(t, "item")
			value[i] = spoil(t, value[i])
			return value
		}
		return append(value, rapid.SampledFrom(parts).Draw(t, "part"))
	}
	return rapid.SampledFrom(parts).Draw(t, "part")
}

// expectRefusedOrKept fails when a patch is neither refused nor leaves to the pods what the
// operator gives them.
func expectRefusedOrKept(t rapid.TB, judge func(rapid.TB, workload.Workload) policy.AggregateCheckResult, w workload.Workload, raw []byte) {
	t.Helper()
	w.PodTemplatePatch = raw
	if _, errs := resources.CheckPods(w); len(errs) > 0 {
		return
	}
	template := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template
	if !labels.SelectorFromSet(w.Owner.Selector()).Matches(labels.Set(template.Labels)) {
		t.Errorf("the selector does not match the pods' labels %v", template.Labels)
	}
	if c := template.Spec.Containers[0]; c.Name != "orders" || c.Image == "" {
		t.Errorf("the first container is %s with the image %q", c.Name, c.Image)
	}
	if verdict := judge(t, w); !verdict.Allowed {
		t.Error(verdict.ForbiddenDetail())
	}
	for _, c := range append(template.Spec.InitContainers, template.Spec.Containers...) {
		expectOneOfEach(t, c)
	}
}
