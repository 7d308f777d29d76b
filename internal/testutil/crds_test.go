// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"platformapp/internal/resources"
)

var update = flag.Bool("update", false, "write the definition of the ServiceMonitor anew")

// An optional kind without its real definition is tested against nothing.
func TestEachOptionalKindHasItsDefinition(t *testing.T) {
	crds, err := OptionalCRDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range resources.Kinds {
		if _, ok := crds[kind.Name]; ok != kind.Optional {
			t.Errorf("%s: optional %t, but with a definition %t", kind.Name, kind.Optional, ok)
		}
	}
	for kind, file := range crds {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(raw, crd); err != nil {
			t.Fatal(err)
		}
		if crd.Spec.Names.Kind != kind {
			t.Errorf("%s defines %s, want %s", file, crd.Spec.Names.Kind, kind)
		}
	}
}

// The ServiceMonitor's definition is generated from the types that the operator uses, as
// the Prometheus operator generates its own, without the descriptions.
func TestDefinitionOfServiceMonitorIsFresh(t *testing.T) {
	dirs, err := moduleDirs(t.Context(), projectModule)
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	generate := exec.CommandContext(t.Context(), "go", "run", "-modfile="+filepath.Join("tools", "dev", "go.mod"),
		"sigs.k8s.io/controller-tools/cmd/controller-gen", "crd:maxDescLen=0",
		"paths=github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1", "output:crd:dir="+out)
	generate.Dir = dirs[projectModule]
	if message, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", generate, err, message)
	}
	golden := filepath.Join(dirs[projectModule], serviceMonitorFile)
	got, err := os.ReadFile(filepath.Join(out, filepath.Base(golden)))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is stale (-want +got); write it anew by go test ./internal/testutil -update:\n%s", golden, diff)
	}
}
