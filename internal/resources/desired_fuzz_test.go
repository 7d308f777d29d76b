// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// FuzzDesired: whatever a specification is and whatever its application finds, it is refused, or rendered as objects of
// ours that the standard of Pod Security admits, the same each time.
func FuzzDesired(f *testing.F) {
	for _, seed := range []string{"", "orders", "\x01\x02\x03\x04\x05\x06\x07\x08", "\xff\xff\xff\xff\xff\xff\xff\xff\x10\x20\x30\x40\x50\x60\x70\x80"} {
		f.Add([]byte(seed))
	}
	judge := podSecurityJudge(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { expectRefusedOrRendered(t, judge) }))
}

// What the fuzz target looks for with the coverage as its guide, this looks for in few and random places.
func TestSpoiltSpecificationIsRefusedOrRendered(t *testing.T) {
	judge := podSecurityJudge(t)
	rapid.Check(t, func(t *rapid.T) { expectRefusedOrRendered(t, judge) })
}

// expectRefusedOrRendered draws an EGApp that breaks no rule, spoils some of its parts, and fails when what becomes of it
// is neither refused nor rendered as it must be.
func expectRefusedOrRendered(t *rapid.T, judge func(rapid.TB, workload.Workload) policy.AggregateCheckResult) {
	var spec any
	app := anyEGApp.Draw(t, "EGApp")
	readInto(t, app.Spec, &spec)
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		spec = spoil(t, spec)
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	app.Spec = v1alpha1.EGAppSpec{}
	if json.Unmarshal(raw, &app.Spec) != nil {
		return
	}
	w, err := translate.EGApp(app, anyOptions.Draw(t, "options"))
	if err != nil {
		return
	}
	o := anyObserved.Draw(t, "observed")
	children := resources.Desired(w, o)
	if diff := cmp.Diff(toYAML(t, children), toYAML(t, resources.Desired(w, o))); diff != "" {
		t.Errorf("the second rendering differs:\n%s", diff)
	}
	for _, child := range children {
		if child.Meta.Namespace == nil || *child.Meta.Namespace != app.Namespace || len(child.Meta.OwnerReferences) != 1 {
			t.Errorf("the %s is in the namespace %v with the owners %v", child.Kind, child.Meta.Namespace, child.Meta.OwnerReferences)
		}
		for key, value := range w.Owner.ChildLabels() {
			if child.Meta.Labels[key] != value {
				t.Errorf("label %s of the %s is %q, want %q", key, child.Kind, child.Meta.Labels[key], value)
			}
		}
	}
	template := deploymentOf(t, children).Spec.Template
	if !labels.SelectorFromSet(w.Owner.Selector()).Matches(labels.Set(template.Labels)) {
		t.Errorf("the selector does not match the pods' labels %v", template.Labels)
	}
	if first := template.Spec.Containers[0]; first.Name != w.Container.Name || first.Image == "" {
		t.Errorf("the first container is %q with the image %q", first.Name, first.Image)
	}
	if verdict := judge(t, w); !verdict.Allowed {
		t.Errorf("the standard %s: %s", w.Security, verdict.ForbiddenDetail())
	}
	for _, c := range append(template.Spec.InitContainers, template.Spec.Containers...) {
		expectOneOfEach(t, c)
	}
}
