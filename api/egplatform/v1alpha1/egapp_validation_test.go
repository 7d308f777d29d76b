// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"platformapp/api/egplatform/v1alpha1"
)

func TestListsOfValuesAreThoseOfTheSchema(t *testing.T) {
	spec := readCRD(t, egappCRD).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
	for field, values := range map[string][]string{
		"framework":    texts(v1alpha1.Frameworks()),
		"instanceType": texts(v1alpha1.InstanceTypes()),
		"environment":  texts(v1alpha1.Environments()),
	} {
		if diff := cmp.Diff(spec[field].Enum, values); diff != "" {
			t.Errorf("%s (-schema +code):\n%s", field, diff)
		}
	}
}

func texts[T ~string](values []T) []string {
	var out []string
	for _, value := range values {
		out = append(out, string(value))
	}
	return out
}

// Each row is judged by IsValid and by the rules in the schema, which must agree: an object
// is stalled for what the API server would refuse, and for nothing else.
func TestIsValidRepeatsTheSchema(t *testing.T) {
	const letters63 = "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-012345678"
	for _, test := range []struct {
		name   string
		change func(*v1alpha1.EGApp)
		want   string
	}{
		{"all required fields", func(*v1alpha1.EGApp) {}, ""},
		{"a name of one letter", func(a *v1alpha1.EGApp) { a.Name = "a" }, ""},
		{"a name of 63 characters", func(a *v1alpha1.EGApp) { a.Name = letters63 }, ""},
		{"a name of 64 characters", func(a *v1alpha1.EGApp) { a.Name = letters63 + "9" }, "metadata.name: Invalid"},
		{"a name with a dot", func(a *v1alpha1.EGApp) { a.Name = "my.app" }, "metadata.name: Invalid"},
		{"a name with a digit first", func(a *v1alpha1.EGApp) { a.Name = "1app" }, "metadata.name: Invalid"},
		{"a name with a dash last", func(a *v1alpha1.EGApp) { a.Name = "app-" }, "metadata.name: Invalid"},
		{"a name with a capital", func(a *v1alpha1.EGApp) { a.Name = "App" }, "metadata.name: Invalid"},
		{"an appId of one digit", func(a *v1alpha1.EGApp) { a.Spec.AppID = "7" }, ""},
		{"an odd appId", func(a *v1alpha1.EGApp) { a.Spec.AppID = "Orders_API.v2" }, ""},
		{"an appId of 63 characters", func(a *v1alpha1.EGApp) { a.Spec.AppID = letters63 }, ""},
		{"an appId of 64 characters", func(a *v1alpha1.EGApp) { a.Spec.AppID = letters63 + "9" }, "spec.appId: Invalid"},
		{"an appId with a dash first", func(a *v1alpha1.EGApp) { a.Spec.AppID = "-orders" }, "spec.appId: Invalid"},
		{"an appId with a dot last", func(a *v1alpha1.EGApp) { a.Spec.AppID = "orders." }, "spec.appId: Invalid"},
		{"an appId with a blank", func(a *v1alpha1.EGApp) { a.Spec.AppID = "or ders" }, "spec.appId: Invalid"},
		{"an appId with a line end", func(a *v1alpha1.EGApp) { a.Spec.AppID = "orders\n" }, "spec.appId: Invalid"},
		{"an appId with a letter of no English", func(a *v1alpha1.EGApp) { a.Spec.AppID = "bücher" }, "spec.appId: Invalid"},
		{"java", func(a *v1alpha1.EGApp) { a.Spec.Framework = "java" }, ""},
		{"python", func(a *v1alpha1.EGApp) { a.Spec.Framework = "python" }, ""},
		{"an unknown framework", func(a *v1alpha1.EGApp) { a.Spec.Framework = "rust" }, "spec.framework: Unsupported"},
		{"a framework in capitals", func(a *v1alpha1.EGApp) { a.Spec.Framework = "Go" }, "spec.framework: Unsupported"},
		{"no framework", func(a *v1alpha1.EGApp) { a.Spec.Framework = "" }, "spec.framework: Required"},
		{"highMem", func(a *v1alpha1.EGApp) { a.Spec.InstanceType = "highMem" }, ""},
		{"an unknown instance type", func(a *v1alpha1.EGApp) { a.Spec.InstanceType = "huge" }, "spec.instanceType: Unsupported"},
		{"prod", func(a *v1alpha1.EGApp) { a.Spec.Environment = "prod" }, ""},
		{"an unknown environment", func(a *v1alpha1.EGApp) { a.Spec.Environment = "production" }, "spec.environment: Unsupported"},
		{"no environment", func(a *v1alpha1.EGApp) { a.Spec.Environment = "" }, "spec.environment: Required"},
		{"no replicas", func(a *v1alpha1.EGApp) { a.Spec.ReplicaCount = new(int32(0)) }, ""},
		{"as many replicas as there are numbers", func(a *v1alpha1.EGApp) { a.Spec.ReplicaCount = new(int32(1<<31 - 1)) }, ""},
		{"replicas below zero", func(a *v1alpha1.EGApp) { a.Spec.ReplicaCount = new(int32(-1)) }, "spec.replicaCount: Invalid"},
		{"all at once", func(a *v1alpha1.EGApp) {
			a.Name, a.Spec = "My.App", v1alpha1.EGAppSpec{AppID: "-", Framework: "x", InstanceType: "x", Environment: "x", ReplicaCount: new(int32(-1))}
		}, "metadata.name: Invalid, spec.appId: Invalid, spec.framework: Unsupported, spec.instanceType: Unsupported, spec.environment: Unsupported, spec.replicaCount: Invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			app := &v1alpha1.EGApp{}
			app.Name = "orders"
			app.Spec = v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev}
			test.change(app)
			var got []string
			for _, err := range app.IsValid() {
				kind, _, _ := strings.Cut(err.Type.String(), " ")
				got = append(got, err.Field+": "+kind)
				if err.Error() == "" {
					t.Errorf("the error of %s says nothing", err.Field)
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(slices.Compact(got), ", ")); diff != "" {
				t.Errorf("IsValid (-want +got):\n%s", diff)
			}
			if broken := brokenInSchema(t, app); (len(broken) > 0) != (test.want != "") {
				t.Errorf("the schema finds %q, IsValid %q", broken, got)
			}
		})
	}
}

// brokenInSchema names the fields of which a rule in the schema is broken. The image has
// its own test, in package translate.
func brokenInSchema(t *testing.T, app *v1alpha1.EGApp) []string {
	t.Helper()
	root := readCRD(t, egappCRD).Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := root.Properties["spec"].Properties
	var broken []string
	if len(app.Name) > 63 || !root.pattern(t).MatchString(app.Name) {
		broken = append(broken, "metadata.name")
	}
	if id := spec["appId"]; utf8.RuneCountInString(app.Spec.AppID) > *id.MaxLength || !id.pattern(t).MatchString(app.Spec.AppID) {
		broken = append(broken, "spec.appId")
	}
	for field, value := range map[string]string{"framework": string(app.Spec.Framework), "environment": string(app.Spec.Environment), "instanceType": string(app.Spec.InstanceType)} {
		// Left out, the instance type has its default.
		if !slices.Contains(spec[field].Enum, value) && (value != "" || spec[field].Default == nil) {
			broken = append(broken, "spec."+field)
		}
	}
	if n := app.Spec.ReplicaCount; n != nil && *n < *spec["replicaCount"].Minimum {
		broken = append(broken, "spec.replicaCount")
	}
	return broken
}

func TestIsValidChangesNothing(t *testing.T) {
	app := &v1alpha1.EGApp{Spec: v1alpha1.EGAppSpec{Framework: "rust"}}
	before := app.DeepCopy()
	app.IsValid()
	if diff := cmp.Diff(before, app); diff != "" {
		t.Error(diff)
	}
}
