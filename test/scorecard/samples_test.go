// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"sigs.k8s.io/yaml"
)

const (
	egappExample   = `{"apiVersion":"egplatform.platform.evillgenius.com/v1alpha1","kind":"EGApp","metadata":{"name":"hello"},"spec":{"framework":"go","environment":"dev"}}`
	serviceExample = `{"apiVersion":"devops.my.domain/v1","kind":"DemoMicroService","metadata":{"name":"podinfo"},"spec":{"image":"podinfo:1"}}`
)

// writeBundle writes a bundle that owns both kinds and has these examples.
func writeBundle(t *testing.T, examples string) string {
	t.Helper()
	var csv v1alpha1.ClusterServiceVersion
	csv.APIVersion, csv.Kind, csv.Name = v1alpha1.ClusterServiceVersionAPIVersion, v1alpha1.ClusterServiceVersionKind, "platformapp.v0.1.0"
	csv.Annotations = map[string]string{examplesAnnotation: examples}
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Kind: "EGApp"}, {Kind: "DemoMicroService"}}
	text, err := yaml.Marshal(csv)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "platformapp.clusterserviceversion.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestExamplesAreReadStrictly(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	for examples, want := range map[string]string{
		"[" + egappExample + "," + serviceExample + "]": "",
		"":                       "is no list in JSON",
		egappExample:             "is no list in JSON",
		"[" + egappExample + "]": "has no example of the kind DemoMicroService",
		"[]":                     "holds no example",
		`[{"kind":"EGApp"}]`:     "alm-examples[0]: ",
		`[` + serviceExample + `,{"apiVersion":"v1","kind":"Pod"}]`:                                  "alm-examples[1]: Pod is no kind of the operator",
		`[` + strings.Replace(egappExample, "framework", "framewrk", 1) + `,` + serviceExample + `]`: `unknown field "spec.framewrk"`,
	} {
		samples, err := readSamples(writeBundle(t, examples), scheme)
		switch {
		case want == "" && (err != nil || len(samples) != 2 || samples[0].GetName() != "hello" || samples[1].GetName() != "podinfo"):
			t.Errorf("%s is read as %v, %v", examples, samples, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s is read with %v, want an error with %q", examples, err, want)
		}
	}
}

// The bundle's configuration names exactly the tests of the image, and the image of the bundle's version.
func TestTheBundleRunsAllTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "bundle", "tests", "scorecard", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config v1alpha3.Configuration
	if err := yaml.UnmarshalStrict(text, &config); err != nil {
		t.Fatal(err)
	}
	var configured []string
	for _, stage := range config.Stages {
		for _, test := range stage.Tests {
			if test.Labels["suite"] != "platformapp" {
				continue
			}
			name := test.Labels["test"]
			configured = append(configured, name)
			if want := []string{"/scorecard", name}; !slices.Equal(test.Entrypoint, want) {
				t.Errorf("%s runs %q, want %q", name, test.Entrypoint, want)
			}
			if !stage.Parallel {
				t.Errorf("%s waits for others without need", name)
			}
		}
	}
	if !slices.Equal(configured, names()) {
		t.Errorf("the bundle runs %q, want %q", configured, names())
	}
}
