// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
)

// named returns a valid EGApp.
func named(name string) *v1alpha1.EGApp {
	app := &v1alpha1.EGApp{Spec: v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev}}
	app.Name, app.Namespace = name, "team-a"
	return app
}

// specified returns an EGApp with a specification as a user writes it, over one that is valid.
func specified(t *testing.T, spec string) *v1alpha1.EGApp {
	t.Helper()
	// What stands in the way of a null.
	app := named("orders")
	if strings.Contains(spec, "framework: null") {
		app.Spec.Framework = ""
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
		t.Fatalf("%v in %s", err, spec)
	}
	return app
}

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

// C05
func TestIsValidRefusesNamesThatAServiceCannotHave(t *testing.T) {
	for name, valid := range map[string]bool{
		"a": true, "orders-2": true, letters63: true,
		letters63 + "9": false, "my.app": false, "1app": false, "app-": false, "App": false, "": false,
	} {
		errs := named(name).IsValid()
		if valid != (len(errs) == 0) {
			t.Errorf("%q: %v", name, errs)
		}
		for _, err := range errs {
			if err.Field != "metadata.name" || (!strings.Contains(err.Detail, "DNS-1035 label") && !strings.Contains(err.Detail, "no more than 63")) {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
}

func TestIsValidNamesFieldAndRule(t *testing.T) {
	for _, test := range rules {
		t.Run(test.name, func(t *testing.T) {
			errs := specified(t, test.spec).IsValid()
			var fields []string
			for _, err := range errs {
				fields = append(fields, err.Field)
				if strings.Contains(err.Error(), "\n") && !strings.Contains(test.spec, `\n`) {
					t.Errorf("%q has several lines", err.Error())
				}
			}
			if !slices.Equal(slices.Compact(fields), []string{test.path}) {
				t.Fatalf("names %q, want %s: %v", fields, test.path, errs)
			}
			if !strings.Contains(errs[0].Error(), test.words) {
				t.Errorf("says %q, want %q", errs[0].Error(), test.words)
			}
		})
	}
}

func TestIsValidAcceptsWhatBreaksNoRule(t *testing.T) {
	for name, spec := range accepted {
		t.Run(name, func(t *testing.T) {
			if errs := specified(t, spec).IsValid(); errs != nil {
				t.Error(errs)
			}
		})
	}
}

func TestIsValidReportsAllAtOnce(t *testing.T) {
	app := specified(t, `{appId: "-", framework: x, instanceType: x, environment: x, replicaCount: -1, ports: [{name: "1", containerPort: 0}], env: [{name: ""}], files: [{mountPath: a}]}`)
	app.Name = "My.App"
	var fields []string
	for _, err := range app.IsValid() {
		fields = append(fields, err.Field)
	}
	want := []string{
		"metadata.name", "spec.appId", "spec.framework", "spec.instanceType", "spec.environment", "spec.replicaCount",
		"spec.ports[0].name", "spec.ports[0].containerPort", "spec.env[0].name", "spec.files[0].mountPath", "spec.files[0]",
	}
	if diff := cmp.Diff(want, slices.Compact(fields)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A value may be a password.
func TestIsValidRepeatsNoValueOfAVariable(t *testing.T) {
	errs := specified(t, `{env: [{name: A, value: hunter2, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: A, value: hunter2}, {name: "=", value: hunter2}]}`).IsValid()
	if len(errs) != 3 || strings.Contains(errs.ToAggregate().Error(), "hunter2") {
		t.Error(errs)
	}
}

func TestIsValidChangesNothing(t *testing.T) {
	for _, spec := range accepted {
		app := specified(t, spec)
		before := app.DeepCopy()
		app.IsValid()
		if diff := cmp.Diff(before, app); diff != "" {
			t.Error(diff)
		}
	}
}
