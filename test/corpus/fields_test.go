// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// leaves returns the paths of all values that a schema knows but the metadata, below path;
// where a value is chosen from a list, the path of each choice.
func leaves(s *structuralschema.Structural, path string) []string {
	var paths []string
	for name, property := range s.Properties {
		if below := path + "." + name; !isMeta(below) {
			paths = append(paths, leaves(&property, below)...)
		}
	}
	switch {
	case len(s.Properties) > 0:
	case s.Items != nil:
		paths = leaves(s.Items, path+"[]")
	case s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil:
		paths = leaves(s.AdditionalProperties.Structural, path+"{}")
	case s.ValueValidation != nil && len(s.ValueValidation.Enum) > 0:
		for _, choice := range s.ValueValidation.Enum {
			paths = append(paths, choicePath(path, choice.Object))
		}
	default:
		paths = []string{path}
	}
	return paths
}

// mark records the paths of all values of an object, as leaves names them.
func mark(s *structuralschema.Structural, value any, path string, seen map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			if property, ok := s.Properties[name]; ok {
				mark(&property, item, path+"."+name, seen)
			} else if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
				mark(s.AdditionalProperties.Structural, item, path+"{}", seen)
			}
		}
	case []any:
		for _, item := range value {
			mark(s.Items, item, path+"[]", seen)
		}
	default:
		seen[choicePath(path, value)] = true
	}
	seen[path] = true
}

func choicePath(path string, choice any) string { return fmt.Sprintf("%s=%v", path, choice) }

// isMeta tells what every object has, whatever its schema.
func isMeta(path string) bool {
	_, field, _ := strings.Cut(path, ".")
	return field == "apiVersion" || field == "kind" || field == "metadata"
}
