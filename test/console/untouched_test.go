// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// untouched returns what a form sends of a schema before anybody has typed, as path=value: every default below it,
// also those of objects that nobody opened, except the empty text, which the form prunes with all that it leaves empty.
func untouched(s *schema, path string) []string {
	var sent []string
	switch s.Default.(type) {
	case nil, map[string]any, []any:
	case string:
		if s.Default != "" {
			sent = append(sent, fmt.Sprintf("%s=%v", path, s.Default))
		}
	default:
		sent = append(sent, fmt.Sprintf("%s=%v", path, s.Default))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		sent = append(sent, untouched(s.Properties[name], path+"."+name)...)
	}
	return sent
}

// A default in an object that nobody opened creates that object: it would choose one of several alternatives, or
// lack what the object requires, and the API server would refuse what a person can't see.
func TestFormSendsNoDefaultThatNobodySees(t *testing.T) {
	want := map[string][]string{"EGApp": {"spec.instanceType=lowMem", "spec.replicaCount=1", "spec.rollout.configChangePolicy=Restart", "spec.securityProfile=Restricted"}}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			spec := readSchema(t, kind.crd).Properties["spec"]
			if diff := cmp.Diff(want[kind.name], untouched(spec, "spec")); diff != "" {
				t.Errorf("an untouched form sends:\n%s", diff)
			}
			forEachList(spec, "spec", func(path string, item *schema) {
				if sent := untouched(item, path); sent != nil {
					t.Errorf("a new entry of the form's list sends %v", sent)
				}
			})
		})
	}
}

// forEachList calls f for the entries of each list of a schema, the lists in lists included.
func forEachList(s *schema, path string, f func(path string, item *schema)) {
	for name, property := range s.Properties {
		forEachList(property, path+"."+name, f)
	}
	if s.Items != nil {
		f(path+"[0]", s.Items)
		forEachList(s.Items, path+"[0]", f)
	}
}

// shown says whether a form shows a field: it has no place for a map, for what is free-form and for what may be text
// or number, nor for an object of nothing else, unless the descriptor brings a widget.
func shown(s *schema) bool {
	switch {
	case len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0:
		return false
	case s.Type == "array":
		return s.Items != nil && shown(s.Items)
	case s.Type == "object":
		for _, property := range s.Properties {
			if shown(property) {
				return true
			}
		}
		return false
	default:
		return s.Type != ""
	}
}

// What a form can't show is written as YAML. It is never what an object needs that the form does show: a person who
// filled in the rest would be refused for a field that is not there.
func TestFormHidesOnlyWhatItHasNoPlaceFor(t *testing.T) {
	want := map[string][]string{"EGApp": {
		"spec.env[0].valueFrom.resourceFieldRef.divisor",
		"spec.expose.ingress.annotations",
		"spec.files[0].emptyDir.sizeLimit",
		"spec.monitoring.labels",
		"spec.service.annotations",
	}}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			widgets := map[string]string{}
			for _, field := range readFields(t, kind.folder, kind.crd, kind.name) {
				if field.part == "spec" && field.descriptor != nil {
					for _, capability := range field.descriptor.capabilities {
						if capability == hidden || capability == resourceRequirements {
							widgets["spec."+field.path] = capability
						}
					}
				}
			}
			if diff := cmp.Diff(want[kind.name], notShown(readSchema(t, kind.crd).Properties["spec"], "spec", widgets, t)); diff != "" {
				t.Errorf("the form does not show:\n%s", diff)
			}
		})
	}
}

// notShown returns the paths of the fields of a schema that have no place in a form, but for those with a widget.
func notShown(s *schema, path string, widgets map[string]string, t *testing.T) []string {
	t.Helper()
	if s.Items != nil {
		return notShown(s.Items, path+"[0]", widgets, t)
	}
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property, at := s.Properties[name], path+"."+name
		switch {
		case widgets[at] != "":
			if widgets[at] == hidden && slices.Contains(s.Required, name) {
				t.Errorf("%s is required and hidden", at)
			}
		case shown(property):
			paths = append(paths, notShown(property, at, widgets, t)...)
		default:
			if slices.Contains(s.Required, name) {
				t.Errorf("%s is required, and the form has no place for it", at)
			}
			paths = append(paths, at)
		}
	}
	return paths
}
