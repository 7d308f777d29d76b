// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"sigs.k8s.io/yaml"
)

// Seed is a valid application, from which plans begin.
type Seed struct {
	// Name of the seed.
	Name string
	Kind Kind
	// Object is the application without its name.
	Object map[string]any
	fields []Field
}

// Field is a place of a seed that plans put other values into.
type Field struct {
	Path Path
	// Pattern is the path without places in lists and keys of maps; fields of one pattern have one schema.
	Pattern string
	// Value is what the seed has there.
	Value any
	// Required tells that the schema wants it to be there.
	Required bool
	// absent tells that the seed leaves it out.
	absent bool
	// free tells that no schema says what may stand there.
	free   bool
	schema *structuralschema.Structural
}

// ReadSeeds reads the seeds in a folder, in the order of how much they set: the smallest is the first.
func ReadSeeds(folder string, kinds map[string]Kind) ([]Seed, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var seeds []Seed
	for _, file := range files {
		seed, err := readSeed(file, kinds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		seeds = append(seeds, seed)
	}
	slices.SortFunc(seeds, func(a, b Seed) int {
		return cmp.Or(cmp.Compare(a.size(), b.size()), strings.Compare(a.Name, b.Name))
	})
	return seeds, nil
}

func readSeed(file string, kinds map[string]Kind) (Seed, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return Seed{}, err
	}
	content, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return Seed{}, err
	}
	seed := Seed{Name: strings.TrimSuffix(filepath.Base(file), ".yaml")}
	if err := json.Unmarshal(content, &seed.Object); err != nil {
		return Seed{}, err
	}
	kind, ok := kinds[fmt.Sprint(seed.Object["kind"])]
	if !ok || seed.Object["apiVersion"] != kind.GroupVersion().String() {
		return Seed{}, fmt.Errorf("there is no kind %v of %v", seed.Object["kind"], seed.Object["apiVersion"])
	}
	seed.Kind = kind
	keep := func(f Field) { seed.fields = append(seed.fields, f) }
	specification := kind.schema.Properties["spec"]
	eachField(&specification, seed.Object["spec"], Field{Path: Path{"spec"}, Pattern: "spec", Required: true}, keep)
	if metadata, ok := seed.Object["metadata"]; ok {
		eachFreeField(metadata, Field{Path: Path{"metadata"}}, keep)
	}
	return seed, nil
}

// size is how many fields the seed sets.
func (s Seed) size() int {
	count := 0
	for _, f := range s.fields {
		if !f.absent {
			count++
		}
	}
	return count
}

// eachField visits all fields of a value, beginning with itself, and those that it leaves out, in alphabetical order. at is
// the field of the value without what is known from the value and its schema.
func eachField(s *structuralschema.Structural, value any, at Field, visit func(Field)) {
	at.Value, at.schema = value, s
	visit(at)
	if s.XPreserveUnknownFields {
		eachFreeField(value, at, visit)
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if _, ok := value[name]; !ok {
				property := s.Properties[name]
				visit(Field{Path: at.Path.with(name), Pattern: at.Pattern + "." + name, absent: true, schema: &property})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			below := Field{Path: at.Path.with(name)}
			if property, ok := s.Properties[name]; ok {
				below.Pattern = at.Pattern + "." + name
				below.Required = s.ValueValidation != nil && slices.Contains(s.ValueValidation.Required, name)
				eachField(&property, value[name], below, visit)
			} else if values := s.AdditionalProperties; values != nil && values.Structural != nil {
				below.Pattern = at.Pattern + "{}"
				eachField(values.Structural, value[name], below, visit)
			}
		}
	case []any:
		for i, item := range value {
			eachField(s.Items, item, Field{Path: at.Path.with(i), Pattern: at.Pattern + "[]"}, visit)
		}
	}
}

// eachFreeField visits all fields below a value without a schema. Each is its own pattern: nothing says which are alike.
func eachFreeField(value any, at Field, visit func(Field)) {
	each := func(step, below any) {
		path := at.Path.with(step)
		f := Field{Path: path, Pattern: path.String(), Value: below, free: true, schema: schemaOf(below)}
		visit(f)
		eachFreeField(below, f, visit)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			each(name, value[name])
		}
	case []any:
		for i, item := range value {
			each(i, item)
		}
	}
}

// chosenFields returns the fields that plans are made for, by seed: of those with one pattern the first of the smallest
// seed that sets it, or, where no valid application can, that has room for it.
func chosenFields(seeds []Seed) map[string][]Field {
	chosen, seen := map[string][]Field{}, map[string]bool{}
	for _, absent := range []bool{false, true} {
		for _, seed := range seeds {
			for _, f := range seed.fields {
				if key := seed.Kind.Kind + " " + f.Pattern; f.absent == absent && !seen[key] {
					seen[key] = true
					chosen[seed.Name] = append(chosen[seed.Name], f)
				}
			}
		}
	}
	return chosen
}
