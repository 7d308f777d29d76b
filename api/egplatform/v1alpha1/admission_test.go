// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// written returns an object as kubectl sends it: with the fields that a user wrote and no
// others.
func written(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	fields := map[string]any{"framework": "go", "environment": "dev"}
	var own map[string]any
	if err := yaml.Unmarshal([]byte(spec), &own); err != nil {
		t.Fatal(err)
	}
	maps.Copy(fields, own)
	object := &unstructured.Unstructured{Object: map[string]any{"spec": fields}}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("EGApp"))
	object.SetNamespace("team-a")
	object.SetName(name)
	return object
}

// refusal returns what the API server says to an object, or nothing if it takes it.
func refusal(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	if err := server.Create(t.Context(), object, client.DryRunAll); err != nil {
		return err.Error()
	}
	return ""
}

// What the schema refuses is told apart from what only webhook and loop refuse, so that no
// rule gets into the schema, where it is frozen, or out of it unseen.
func TestSchemaRefusesItsShareOfTheRules(t *testing.T) {
	for _, test := range rules {
		t.Run(test.name, func(t *testing.T) {
			got := refusal(t, written(t, "orders", test.spec))
			if test.schema == "" {
				if got != "" {
					t.Errorf("refused, but only webhook and loop should: %s", got)
				}
				return
			}
			// An item of a list is named with or without its field, and a rule over two fields at
			// what has them.
			field, _, _ := strings.Cut(test.path, "[")
			parent, name := field[:strings.LastIndex(field, ".")], field[strings.LastIndex(field, ".")+1:]
			if named := strings.Contains(got, field) || strings.Contains(got, parent) && strings.Contains(got, name); !named || !strings.Contains(got, test.schema) {
				t.Errorf("says %q, want %s and %q", got, field, test.schema)
			}
		})
	}
}

func TestSchemaAcceptsWhatBreaksNoRule(t *testing.T) {
	for name, spec := range accepted {
		t.Run(name, func(t *testing.T) {
			if got := refusal(t, written(t, "orders", spec)); got != "" {
				t.Error(got)
			}
		})
	}
}

// C05
func TestSchemaRefusesNamesThatAServiceCannotHave(t *testing.T) {
	for _, name := range []string{"my.app", letters63 + "9", "1app"} {
		if got := refusal(t, written(t, name, "{}")); !strings.Contains(got, "metadata.name must be a DNS-1035 label of at most 63 characters") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"a", letters63} {
		if got := refusal(t, written(t, name, "{}")); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// C06, N31: the schema refuses what is no reference for certain; the grammar of references
// is judged by webhook and loop.
func TestSchemaRefusesImagesWithBlanks(t *testing.T) {
	for image, refused := range map[string]bool{
		"a b": true, "nginx:1\n": true, "ngi\u200bnx": true, " nginx": true,
		"docker://nginx:1": false, "MyOrg/App:1.0": false, "nginx:": false, "my_app:latest": false, "localhost:4000/repo/my-image:tag": false,
	} {
		object := written(t, "orders", "{}")
		if err := unstructured.SetNestedField(object.Object, image, "spec", "image"); err != nil {
			t.Fatal(err)
		}
		if got := refusal(t, object); refused != strings.Contains(got, "must be an image reference of printable ASCII characters without blanks") {
			t.Errorf("EGApp with %q: %q", image, got)
		}
		service := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": image}}}
		service.SetAPIVersion("devops.my.domain/v1")
		service.SetKind("DemoMicroService")
		service.SetNamespace("team-a")
		service.SetName("demo")
		if got := refusal(t, service); refused != strings.Contains(got, "spec.image") {
			t.Errorf("DemoMicroService with %q: %q", image, got)
		}
	}
}

// Tools and forms send a field that is not filled in as an empty text. An EGApp then runs the
// framework's image; a DemoMicroService has no other.
func TestEmptyImageIsThatOfTheFramework(t *testing.T) {
	if got := refusal(t, written(t, "orders", `{image: ""}`)); got != "" {
		t.Error(got)
	}
	service := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": ""}}}
	service.SetAPIVersion("devops.my.domain/v1")
	service.SetKind("DemoMicroService")
	service.SetNamespace("team-a")
	service.SetName("demo")
	if got := refusal(t, service); !strings.Contains(got, "spec.image") {
		t.Errorf("a DemoMicroService without image: %q", got)
	}
}

// N42: a number or a boolean is no value. The API server says so in its own words, which no
// schema can change; kubectl explain says to quote it.
func TestSchemaRefusesValuesWithoutQuotes(t *testing.T) {
	for _, value := range []string{"8080", "true"} {
		got := refusal(t, written(t, "orders", `{env: [{name: A, value: `+value+`}]}`))
		if !strings.Contains(got, "spec.env[0].value") || !strings.Contains(got, "must be of type string") {
			t.Errorf("%s: %q", value, got)
		}
	}
	if got := refusal(t, written(t, "orders", `{resources: {limits: {cpu: 1.5}}}`)); !strings.Contains(got, "spec.resources.limits.cpu") {
		t.Errorf("a fraction: %q", got)
	}
	env := readCRD(t, egappCRD).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["env"]
	if !strings.Contains(env.Description, "quote numbers and booleans") {
		t.Errorf("env is explained by %q", env.Description)
	}
}

// What the API server stores means what was written: its defaults are those that the loop
// resolves for objects that were stored without.
func TestDefaultsOfTheSchemaAreThoseOfTheLoop(t *testing.T) {
	for name, spec := range accepted {
		t.Run(name, func(t *testing.T) {
			object := written(t, "orders", spec)
			if got := refusal(t, object); got != "" {
				t.Fatal(got)
			}
			stored := &v1alpha1.EGApp{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, stored); err != nil {
				t.Fatal(err)
			}
			if stored.Spec.InstanceType == "" || stored.Spec.ReplicaCount == nil || stored.Spec.Rollout == nil || stored.Spec.SecurityProfile == "" {
				t.Errorf("stored without its defaults: %+v", stored.Spec)
			}
			own := specified(t, spec)
			own.UID, own.Generation = stored.UID, stored.Generation
			options := translate.Options{}
			want, err := translate.EGApp(own, options)
			if err != nil {
				t.Fatal(err)
			}
			got, err := translate.EGApp(stored, options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-as written +as stored):\n%s", diff)
			}
		})
	}
}

// What breaks no rule is carried out: the API server takes each object that it makes, also
// in every environment and with what another specification asks for beside.
func TestWhatBreaksNoRuleIsCarriedOut(t *testing.T) {
	for name, spec := range accepted {
		t.Run(name, func(t *testing.T) {
			for _, environment := range v1alpha1.Environments() {
				app := specified(t, spec)
				app.Spec.Environment, app.Spec.Framework, app.UID = environment, v1alpha1.FrameworkPython, "uid-1"
				if r := app.Spec.Rollout; r != nil && r.ProgressDeadlineSeconds != nil {
					// The bound depends on the environment; package translate has its test.
					r.ProgressDeadlineSeconds = new(int32(100))
				}
				w, err := translate.EGApp(app, translate.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, child := range resources.Desired(w, workload.Observed{}) {
					if err := server.Apply(t.Context(), child.Config, client.FieldOwner(workload.FieldManager), client.DryRunAll); err != nil {
						t.Errorf("%s in %s: %v", child.Kind, environment, err)
					}
				}
			}
		})
	}
}

// An object that is older than the rule for names can still be labelled, have its status
// written and be deleted; its specification can be changed, too.
func TestRuleForNamesHoldsAtCreationOnly(t *testing.T) {
	definition := &unstructured.Unstructured{}
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	definition.SetKind("CustomResourceDefinition")
	setRules := func(rules []any) {
		t.Helper()
		if err := server.Get(t.Context(), client.ObjectKey{Name: "egapps.egplatform.platform.evillgenius.com"}, definition); err != nil {
			t.Fatal(err)
		}
		versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
		if err != nil || len(versions) != 1 {
			t.Fatalf("%d versions: %v", len(versions), err)
		}
		root := versions[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		root["x-kubernetes-validations"] = rules
		if rules == nil {
			delete(root, "x-kubernetes-validations")
		}
		if err := unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions"); err != nil {
			t.Fatal(err)
		}
		if err := server.Update(t.Context(), definition); err != nil {
			t.Fatal(err)
		}
	}
	eventually := func(what string, done func() bool) {
		t.Helper()
		for range 300 {
			if done() {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatal("not within 30 s: " + what)
	}
	setRules(nil)
	eventually("a name with a dot is taken", func() bool { return server.Create(t.Context(), written(t, "my.app", "{}")) == nil })
	rule := readCRD(t, egappCRD).Spec.Versions[0].Schema.OpenAPIV3Schema.Validations[0]
	setRules([]any{map[string]any{"rule": rule.Rule, "message": rule.Message, "optionalOldSelf": true}})
	eventually("a name with a dot is refused again", func() bool { return refusal(t, written(t, "my.other", "{}")) != "" })

	object := written(t, "my.app", "{}")
	for what, write := range map[string]func() error{
		"label": func() error {
			return server.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`)))
		},
		"status": func() error {
			return server.Status().Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Invalid"}}`)))
		},
		"specification": func() error {
			return server.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicaCount":2}}`)))
		},
	} {
		if err := write(); err != nil {
			t.Errorf("its %s cannot be written: %v", what, err)
		}
	}
	if err := server.Delete(t.Context(), object); err != nil {
		t.Error(err)
	}
}
