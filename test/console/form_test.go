// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// forEachField calls f for every field of both kinds that is of one of the project's own types.
func forEachField(t *testing.T, f func(t *testing.T, field field)) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			for _, field := range readFields(t, kind.folder, kind.crd, kind.name) {
				f(t, field)
			}
		})
	}
}

// forEachDescribed calls f for every field of both kinds that has a descriptor.
func forEachDescribed(t *testing.T, f func(t *testing.T, field field)) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			for _, field := range readDescribed(t, kind.folder, kind.crd, kind.name) {
				f(t, field)
			}
		})
	}
}

// A form shows the fields in the order of the markers, with the name that people read. The
// scorecard wants a descriptor for each field that an example sets.
func TestEachFieldOfASpecHasANameAndAPlace(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			last := 0
			names := map[string]string{}
			for _, field := range readFields(t, kind.folder, kind.crd, kind.name) {
				if field.part != "spec" || !field.top() {
					continue
				}
				if field.descriptor == nil {
					t.Errorf("spec.%s has no operator-sdk marker", field.path)
					continue
				}
				if field.descriptor.order != last+1 {
					t.Errorf("order of spec.%s is %d, want %d, since it follows that field in the code", field.path, field.descriptor.order, last+1)
				}
				last = field.descriptor.order
				if other := names[field.descriptor.displayName]; other != "" {
					t.Errorf("spec.%s and spec.%s are both called %s", other, field.path, field.descriptor.displayName)
				}
				names[field.descriptor.displayName] = field.path
			}
			if last == 0 {
				t.Error("no field of the spec was seen")
			}
		})
	}
}

// Below the first level, too, a form keeps the order of the code, if the orders grow.
func TestFieldsBelowStandInTheOrderOfTheCode(t *testing.T) {
	last := map[string]int{}
	forEachField(t, func(t *testing.T, field field) {
		if field.part != "spec" || field.top() || field.descriptor == nil || slices.Contains(field.descriptor.capabilities, hidden) {
			return
		}
		parent := t.Name() + field.path[:strings.LastIndex(field.path, ".")]
		if field.descriptor.order <= last[parent] {
			t.Errorf("order of spec.%s is %d, want more than %d, that of the field before it in the code", field.path, field.descriptor.order, last[parent])
		}
		last[parent] = field.descriptor.order
	})
}

func TestEGAppFormBeginsWithWhatEverybodyChooses(t *testing.T) {
	var first, choices []string
	for _, field := range readFields(t, kinds[0].folder, kinds[0].crd, kinds[0].name) {
		if field.part == "spec" && field.top() && len(first) < 4 {
			first = append(first, field.path)
			if len(field.schema.Enum) > 0 {
				choices = append(choices, field.path)
			}
		}
	}
	if diff := cmp.Diff([]string{"framework", "environment", "instanceType", "replicaCount"}, first); diff != "" {
		t.Errorf("the first fields:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"framework", "environment", "instanceType"}, choices); diff != "" {
		t.Errorf("the fields that are lists to choose from:\n%s", diff)
	}
}

// The console warns in the browser's log of what it does not know, has deprecated or cannot show on a field.
func TestDescriptorsFitTheirFields(t *testing.T) {
	forEachDescribed(t, func(t *testing.T, field field) {
		if field.descriptor.part != field.part {
			t.Errorf("%s.%s has a marker for the %s", field.part, field.path, field.descriptor.part)
		}
		if field.descriptor.displayName == "" {
			t.Errorf("%s.%s has a marker without displayName", field.part, field.path)
		}
		for _, capability := range field.descriptor.capabilities {
			shape, known := capabilityShape(field.part, capability)
			if !known {
				t.Errorf("%s.%s: the console does not know %s", field.part, field.path, capability)
			}
			if shape != "" && shape != field.schema.shape() {
				t.Errorf("%s.%s is a %s, which the console does not show as %s", field.part, field.path, field.schema.shape(), capability)
			}
		}
	})
}

// What kubectl explain prints and the form shows beside each field is one paragraph that ends as a sentence does.
func TestEachFieldIsExplainedInOneParagraph(t *testing.T) {
	forEachField(t, func(t *testing.T, field field) {
		description := field.schema.Description
		if strings.ContainsAny(description, "\n\r") || !strings.HasSuffix(description, ".") || len(strings.Fields(description)) < 3 {
			t.Errorf("%s.%s is explained by %q, want one paragraph that ends with a full stop", field.part, field.path, description)
		}
	})
}

// What an example sets is what a form begins with.
func TestSamplesKnowOnlyFieldsOfTheSchema(t *testing.T) {
	for _, sample := range []struct {
		kind int
		file string
	}{
		{0, "egplatform_v1alpha1_egapp.yaml"},
		{1, "devops_v1_demomicroservice.yaml"},
	} {
		raw, err := os.ReadFile(filepath.Join("../../config/samples", sample.file))
		if err != nil {
			t.Fatal(err)
		}
		var object struct {
			Kind string
			Spec map[string]any
		}
		if err := yaml.Unmarshal(raw, &object); err != nil {
			t.Fatal(err)
		}
		kind := kinds[sample.kind]
		if object.Kind != kind.name || len(object.Spec) == 0 {
			t.Errorf("%s is %s with %d fields, want a %s", sample.file, object.Kind, len(object.Spec), kind.name)
		}
		fields := readFields(t, kind.folder, kind.crd, kind.name)
		for name := range object.Spec {
			if !slices.ContainsFunc(fields, func(f field) bool { return f.part == "spec" && f.path == name }) {
				t.Errorf("%s sets spec.%s, which the schema does not have", sample.file, name)
			}
		}
	}
}
