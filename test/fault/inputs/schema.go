// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Kind is a kind of application with the schema of what a person writes.
type Kind struct {
	schema.GroupVersionKind
	// Resource is how URLs name it, in the plural.
	Resource string
	schema   *structuralschema.Structural
}

// ReadKinds reads the CustomResourceDefinitions in a folder, by kind. The newest served version is taken.
func ReadKinds(folder string) (map[string]Kind, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	kinds := map[string]Kind{}
	for _, file := range files {
		kind, err := readKind(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		kinds[kind.Kind] = kind
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("there are no CustomResourceDefinitions in %s", folder)
	}
	return kinds, nil
}

func readKind(file string) (Kind, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return Kind{}, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, crd); err != nil {
		return Kind{}, err
	}
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served })
	if i < 0 {
		return Kind{}, errors.New("no version is served")
	}
	version := crd.Spec.Versions[i]
	props := &apiextensions.JSONSchemaProps{}
	schemaV1 := version.Schema.OpenAPIV3Schema
	err = apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schemaV1, props, nil)
	if err != nil {
		return Kind{}, err
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return Kind{}, err
	}
	return Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind},
		Resource:         crd.Spec.Names.Plural, schema: structural,
	}, nil
}

// fields returns the patterns of all fields of the specification, in alphabetical order: spec.env[].name,
// spec.resources.limits{}. The schema of an application is finite; where one were not, its fields would be written by hand.
func (k Kind) fields() []string {
	patterns := map[string]bool{}
	specification := k.schema.Properties["spec"]
	eachPattern(&specification, "spec", func(pattern string) { patterns[pattern] = true })
	return slices.Sorted(maps.Keys(patterns))
}

func eachPattern(s *structuralschema.Structural, pattern string, visit func(pattern string)) {
	visit(pattern)
	for name, property := range s.Properties {
		eachPattern(&property, pattern+"."+name, visit)
	}
	if s.Items != nil {
		eachPattern(s.Items, pattern+"[]", visit)
	}
	if values := s.AdditionalProperties; values != nil && values.Structural != nil {
		eachPattern(values.Structural, pattern+"{}", visit)
	}
}

// schemaOf invents the schema of a value that has none, as everything in a pod template patch: its type is all that is said.
func schemaOf(value any) *structuralschema.Structural {
	s := &structuralschema.Structural{}
	switch value.(type) {
	case map[string]any:
		s.Type, s.XPreserveUnknownFields = "object", true
	case []any:
		s.Type = "array"
	case string:
		s.Type = "string"
	case bool:
		s.Type = "boolean"
	default:
		s.Type = "integer"
	}
	return s
}
