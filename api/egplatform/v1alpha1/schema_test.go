// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

const (
	egappCRD            = "../../../config/crd/bases/egplatform.platform.evillgenius.com_egapps.yaml"
	demoMicroServiceCRD = "../../../config/crd/bases/devops.my.domain_demomicroservices.yaml"
)

// crd is what of a CustomResourceDefinition is read here.
type crd struct {
	Metadata struct{ Name string }
	Spec     struct {
		Group string
		Scope string
		Names struct {
			Kind, Plural, Singular string
			ShortNames             []string
		}
		Versions []struct {
			Name         string
			Subresources struct {
				Status *struct{}
				Scale  *struct{ SpecReplicasPath, StatusReplicasPath, LabelSelectorPath string }
			}
			AdditionalPrinterColumns []struct {
				Name     string
				Priority int
			}
			Schema struct{ OpenAPIV3Schema schema }
		}
	}
}

// schema is what of a JSON schema is read here.
type schema struct {
	Description string
	Properties  map[string]schema
	Required    []string
	Enum        []string
	MaxLength   *int
	Minimum     *int32
	Default     any
	Validations []struct{ Rule, Message string } `json:"x-kubernetes-validations"`
}

func readCRD(t *testing.T, path string) crd {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c crd
	if err := yaml.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Spec.Versions) != 1 {
		t.Fatalf("%d versions in %s, want 1", len(c.Spec.Versions), path)
	}
	return c
}

// Everything that is stored in clusters and written in scripts hangs on these.
func TestNamesOfTheAPIAreFrozen(t *testing.T) {
	for _, test := range []struct {
		path, name, group, version, kind, plural, singular, short string
		columns, wide                                             string
	}{
		{
			egappCRD, "egapps.egplatform.platform.evillgenius.com", "egplatform.platform.evillgenius.com", "v1alpha1", "EGApp", "egapps", "egapp", "ega",
			"Framework Environment Type Desired Ready Status Reason Age", "Image URL",
		},
		{
			demoMicroServiceCRD, "demomicroservices.devops.my.domain", "devops.my.domain", "v1", "DemoMicroService", "demomicroservices", "demomicroservice", "dms",
			"Ready Status Reason Age", "Image",
		},
	} {
		t.Run(test.kind, func(t *testing.T) {
			c := readCRD(t, test.path)
			names, version := c.Spec.Names, c.Spec.Versions[0]
			got := []string{c.Metadata.Name, c.Spec.Group, version.Name, names.Kind, names.Plural, names.Singular, strings.Join(names.ShortNames, " "), c.Spec.Scope}
			want := []string{test.name, test.group, test.version, test.kind, test.plural, test.singular, test.short, "Namespaced"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			var columns, wide []string
			for _, column := range version.AdditionalPrinterColumns {
				if column.Priority > 0 {
					wide = append(wide, column.Name)
				} else {
					columns = append(columns, column.Name)
				}
			}
			if got := strings.Join(columns, " "); got != test.columns {
				t.Errorf("columns are %s, want %s", got, test.columns)
			}
			if got := strings.Join(wide, " "); got != test.wide {
				t.Errorf("wide columns are %s, want %s", got, test.wide)
			}
			if version.Subresources.Status == nil {
				t.Error("no status subresource")
			}
		})
	}
	if scale := readCRD(t, egappCRD).Spec.Versions[0].Subresources.Scale; scale == nil ||
		scale.SpecReplicasPath != ".spec.replicaCount" || scale.StatusReplicasPath != ".status.replicas" || scale.LabelSelectorPath != ".status.selector" {
		t.Errorf("scale subresource of the EGApp is %+v", scale)
	}
}

func TestSchemaExplainsEachFieldAndIsSmall(t *testing.T) {
	for _, path := range []string{egappCRD, demoMicroServiceCRD} {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > 100_000 {
			t.Errorf("%s has %d bytes, want 100 KB at most", path, len(raw))
		}
		if strings.Contains(string(raw), "allOf") {
			t.Errorf("%s has an allOf, which no form shows", path)
		}
		root := readCRD(t, path).Spec.Versions[0].Schema.OpenAPIV3Schema
		for _, part := range []string{"spec", "status"} {
			for name, field := range root.Properties[part].Properties {
				if !strings.HasSuffix(field.Description, ".") || len(strings.Fields(field.Description)) < 5 {
					t.Errorf("%s.%s of %s is explained by %q, want a sentence", part, name, path, field.Description)
				}
			}
		}
		if required := root.Properties["status"].Required; len(required) > 0 {
			t.Errorf("%s requires %v of a status, want all optional", path, required)
		}
	}
}

func TestDefaultsOfSchema(t *testing.T) {
	spec := readCRD(t, egappCRD).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	for name, want := range map[string]any{"appId": nil, "framework": nil, "environment": nil, "image": nil, "instanceType": "lowMem", "replicaCount": float64(1)} {
		if diff := cmp.Diff(want, spec.Properties[name].Default); diff != "" {
			t.Errorf("default of %s:\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{"environment", "framework"}, spec.Required); diff != "" {
		t.Errorf("required fields:\n%s", diff)
	}
}

// A typed client that reads an EGApp and writes it back must not lose a zero, which
// differs from the default.
func TestRoundTripKeepsZeros(t *testing.T) {
	app := &v1alpha1.EGApp{Spec: v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, ReplicaCount: new(int32(0))}}
	serialized, err := json.Marshal(app)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"replicaCount":0`, `"replicas":0`, `"readyReplicas":0`} {
		if !strings.Contains(string(serialized), want) {
			t.Errorf("%s is missing in %s", want, serialized)
		}
	}
	again := &v1alpha1.EGApp{}
	if err := json.Unmarshal(serialized, again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(app, again); diff != "" {
		t.Error(diff)
	}
}

func TestTypesAreRegisteredInScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, devopsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []struct {
		object      runtime.Object
		group, kind string
	}{
		{&v1alpha1.EGApp{}, "egplatform.platform.evillgenius.com/v1alpha1", "EGApp"},
		{&v1alpha1.EGAppList{}, "egplatform.platform.evillgenius.com/v1alpha1", "EGAppList"},
		{&devopsv1.DemoMicroService{}, "devops.my.domain/v1", "DemoMicroService"},
		{&devopsv1.DemoMicroServiceList{}, "devops.my.domain/v1", "DemoMicroServiceList"},
	} {
		gvks, _, err := scheme.ObjectKinds(kind.object)
		if err != nil || len(gvks) != 1 || gvks[0].GroupVersion().String() != kind.group || gvks[0].Kind != kind.kind {
			t.Errorf("%T is %v (%v), want %s of %s", kind.object, gvks, err, kind.kind, kind.group)
		}
	}
}
