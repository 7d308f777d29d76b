// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The page of an application warns of each descriptor of an object or a list that it can't print. It prints what has a
// widget, is hidden, or has descriptors below.
func TestPageOfAnApplicationPrintsWhatHasADescriptor(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			fields := readDescribed(t, kind.folder, kind.crd, kind.name)
			for _, this := range fields {
				if this.schema.shape() == scalar {
					continue
				}
				printed := slices.ContainsFunc(this.descriptor.capabilities, func(c string) bool { return capabilities[this.part][c] != "" || c == hidden })
				below := slices.ContainsFunc(fields, func(f field) bool {
					return f.part == this.part && (strings.HasPrefix(f.path, this.path+".") || strings.HasPrefix(f.path, this.path+"[0]"))
				})
				if !printed && (!below || !this.top()) {
					t.Errorf("%s.%s is a %s with a descriptor that the page can't print", this.part, this.path, this.schema.shape())
				}
			}
		})
	}
}

func TestChoicesOfDescriptorsAreThoseOfTheSchema(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			fields := readFields(t, kind.folder, kind.crd, kind.name)
			for _, field := range readDescribed(t, kind.folder, kind.crd, kind.name) {
				var options []string
				for _, capability := range field.descriptor.capabilities {
					if option, ok := strings.CutPrefix(capability, selectValue); ok {
						options = append(options, option)
					}
					if control, ok := strings.CutPrefix(capability, dependency); ok {
						checkDependency(t, fields, field, control)
					}
				}
				if want := field.schema.enum(); options != nil && !slices.Equal(options, want) {
					t.Errorf("spec.%s offers %v, want the schema's %v", field.path, options, want)
				}
			}
		})
	}
}

// checkDependency checks that a field depends on a value that its control, written control:value, can have.
func checkDependency(t *testing.T, fields []field, dependent field, dependsOn string) {
	t.Helper()
	path, value, _ := strings.Cut(dependsOn, ":")
	at := slices.IndexFunc(fields, func(f field) bool { return f.part == "spec" && f.path == path })
	if at < 0 {
		t.Errorf("spec.%s depends on spec.%s, which does not exist", dependent.path, path)
		return
	}
	values := fields[at].schema.enum()
	if fields[at].schema.Type == "boolean" {
		values = []string{"true", "false"}
	}
	if !slices.Contains(values, value) {
		t.Errorf("spec.%s depends on %q of spec.%s, which has %v", dependent.path, value, path, values)
	}
}

// enum returns the values that the schema allows, in its order.
func (s *schema) enum() []string {
	var values []string
	for _, value := range s.Enum {
		values = append(values, fmt.Sprint(value))
	}
	return values
}
