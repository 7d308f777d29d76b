// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// The tests of this package hold the forms that a console makes of the CRDs and of the bundle's descriptors to its rules.
package console

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// kinds are the kinds that have a form.
var kinds = []struct{ name, folder, crd string }{
	{"EGApp", "egplatform/v1alpha1", "egplatform.platform.evillgenius.com_egapps.yaml"},
	{"DemoMicroService", "devops/v1", "devops.my.domain_demomicroservices.yaml"},
}

// schema is what a form reads of a field's OpenAPI schema.
type schema struct {
	Type        string
	Description string
	Properties  map[string]*schema
	Items       *schema
	Required    []string
	Default     any
	Enum        []any
	AllOf       []any
	AnyOf       []any
	OneOf       []any
}

// field is a field of one of the project's own types, with its place below spec or status.
type field struct {
	// part is spec or status, path the path below it, as a descriptor has it: ports[0].name.
	part, path string
	schema     *schema
	descriptor *descriptor
}

// top says that the field stands directly below spec or status.
func (f field) top() bool { return !strings.ContainsAny(f.path, ".[") }

// readFields returns every field of a kind that is of one of the project's own types, in the order of the Go code.
// Fields of Kubernetes' types are left out; the fields that have such a type are in.
func readFields(t *testing.T, folder, crdFile, kind string) []field {
	t.Helper()
	types := parseTypes(t, "../../api/appstatus", "appstatus.")
	maps.Copy(types, parseTypes(t, filepath.Join("../../api", folder), ""))
	root := readSchema(t, crdFile)
	var fields []field
	for part, name := range map[string]string{"spec": kind + "Spec", "status": kind + "Status"} {
		fields = append(fields, walk(t, types, name, root.Properties[part], part, "")...)
	}
	slices.SortStableFunc(fields, func(a, b field) int { return cmp.Compare(a.part, b.part) })
	return fields
}

// readSchema returns the schema of the one version of a CRD.
func readSchema(t *testing.T, crdFile string) *schema {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../config/crd/bases", crdFile))
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct{ OpenAPIV3Schema schema }
			}
		}
	}
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		t.Fatal(err)
	}
	if len(crd.Spec.Versions) != 1 {
		t.Fatalf("%s has %d versions, want 1", crdFile, len(crd.Spec.Versions))
	}
	return &crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// parseTypes returns the structs that a folder declares, by their names behind the qualifier.
func parseTypes(t *testing.T, folder, qualifier string) map[string]*ast.StructType {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go files in %s (%v)", folder, err)
	}
	types := map[string]*ast.StructType{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if structure, ok := spec.Type.(*ast.StructType); ok {
					types[qualifier+spec.Name.Name] = structure
				}
			}
			return true
		})
	}
	return types
}

// walk returns the fields of the named type and of all types below it.
func walk(t *testing.T, types map[string]*ast.StructType, typeName string, s *schema, part, prefix string) []field {
	t.Helper()
	structure := types[typeName]
	if structure == nil || s == nil {
		t.Fatalf("%s.%s: no type %s, or no schema", part, prefix, typeName)
	}
	var fields []field
	for _, f := range structure.Fields.List {
		name, inline := jsonName(t, f)
		fieldType, list := elementType(f.Type)
		if strings.HasPrefix(typeName, "appstatus.") && types["appstatus."+fieldType] != nil {
			fieldType = "appstatus." + fieldType
		}
		if inline {
			if types[fieldType] != nil {
				fields = append(fields, walk(t, types, fieldType, s, part, prefix)...)
			}
			continue
		}
		this := field{part: part, path: prefix + name, schema: s.Properties[name], descriptor: parseDescriptor(t, f.Doc)}
		if this.schema == nil {
			t.Fatalf("%s.%s is not in the CRD: make manifests", part, this.path)
		}
		fields = append(fields, this)
		if types[fieldType] == nil {
			continue
		}
		below, path := this.schema, this.path
		if list {
			below, path = below.Items, path+"[0]"
		}
		fields = append(fields, walk(t, types, fieldType, below, part, path+".")...)
	}
	return fields
}

// jsonName returns the name of a field in JSON, and whether its own fields stand in its place.
func jsonName(t *testing.T, f *ast.Field) (name string, inline bool) {
	t.Helper()
	if f.Tag == nil {
		t.Fatalf("field %v has no tag", f.Names)
	}
	name, options, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
	return name, name == "" && strings.Contains(options, "inline")
}

// elementType returns the name of a type without pointer and brackets, and whether it is a list of it. A map's is "".
func elementType(expression ast.Expr) (name string, list bool) {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return elementType(e.X)
	case *ast.ArrayType:
		name, _ = elementType(e.Elt)
		return name, true
	case *ast.SelectorExpr:
		qualifier, _ := elementType(e.X)
		return qualifier + "." + e.Sel.Name, false
	case *ast.Ident:
		return e.Name, false
	default:
		return "", false
	}
}
