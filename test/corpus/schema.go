// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// Schemas are the schemas of the applications, by apiVersion and kind.
type Schemas map[string]schema

// schema reads and judges objects of one version of a kind with the code of the API server.
type schema struct {
	structural *structuralschema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

// ReadSchemas reads the CustomResourceDefinitions in a folder.
func ReadSchemas(folder string) (Schemas, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	schemas := Schemas{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := schemas.add(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(schemas) == 0 {
		return nil, fmt.Errorf("no CustomResourceDefinitions in %s", folder)
	}
	return schemas, nil
}

// add adds the served versions of a CustomResourceDefinition.
func (s Schemas) add(raw []byte) error {
	v1 := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, v1); err != nil {
		return err
	}
	for _, version := range v1.Spec.Versions {
		if !version.Served {
			continue
		}
		props := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, props, nil); err != nil {
			return err
		}
		structural, err := structuralschema.NewStructural(props)
		if err != nil {
			return err
		}
		values, _, err := validation.NewSchemaValidator(props)
		if err != nil {
			return err
		}
		s[v1.Spec.Group+"/"+version.Name+" "+v1.Spec.Names.Kind] = schema{
			structural: structural, values: values, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit),
		}
	}
	return nil
}

func (s Schemas) of(object map[string]any) (schema, error) {
	name := fmt.Sprintf("%v %v", object["apiVersion"], object["kind"])
	found, ok := s[name]
	if !ok {
		return schema{}, fmt.Errorf("no version of a CustomResourceDefinition serves %s", name)
	}
	return found, nil
}

// Serve tells whether the API server would know an object at all.
func (s Schemas) Serve(object map[string]any) bool {
	_, err := s.of(object)
	return err == nil
}

// Load makes of an object what the API server hands out when it has it stored: defaults
// are filled in, and what the schema does not know is dropped. It returns the paths of
// what was dropped.
func (s Schemas) Load(object map[string]any) (dropped []string, err error) {
	known, err := s.of(object)
	if err != nil {
		return nil, err
	}
	dropped = pruning.PruneWithOptions(object, known.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, known.structural)
	defaulting.Default(object, known.structural)
	return dropped, nil
}

// Refusals returns why the API server would not let an object be written, be it made or
// restored: the schema's bounds, its lists and its rules.
func (s Schemas) Refusals(ctx context.Context, object map[string]any) (field.ErrorList, error) {
	known, err := s.of(object)
	if err != nil {
		return nil, err
	}
	errs := validation.ValidateCustomResource(nil, object, known.values)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, known.structural, object)...)
	if known.rules != nil {
		broken, _ := known.rules.Validate(ctx, nil, known.structural, object, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, broken...)
	}
	return errs, nil
}
