// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Of the manager itself: our licence, Go's, and those of the modules that are surely linked, also where a folder below
// the module has one of its own.
func TestLicencesOfTheManager(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-json=Dir,Module,Standard", ".")
	list.Dir = "../../.."
	packages, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := run(strings.NewReader(string(packages)), []string{dir}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"LICENSE", "third_party/go/LICENSE", "third_party/k8s.io/client-go/LICENSE", "third_party/go.yaml.in/yaml/v3/NOTICE",
		"third_party/k8s.io/apimachinery/third_party/forked/golang/LICENSE",
	} {
		if content, err := os.ReadFile(filepath.Join(dir, path)); err != nil || len(content) == 0 {
			t.Errorf("%s is missing: %v", path, err)
		}
	}
	ours, err := os.ReadFile("../../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "LICENSE")); string(got) != string(ours) {
		t.Error("/licenses/LICENSE is not ours")
	}
	// What only the tests use is not linked.
	if _, err := os.Stat(filepath.Join(dir, "third_party/github.com/google/go-cmp")); err == nil {
		t.Error("there is a licence of go-cmp, which is not in the manager")
	}
}

func TestLicencesRefuse(t *testing.T) {
	bare := t.TempDir()
	if err := os.WriteFile(filepath.Join(bare, "license.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	printed := func(p pkg) string {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, c := range map[string]struct{ packages, want string }{
		"no package":    {"", "printed no package"},
		"no JSON":       {"platformapp", "read what go list printed"},
		"no licence":    {printed(pkg{Dir: bare, Module: &module{Path: "example.com/bare", Dir: bare}}), "module example.com/bare, in " + bare + ", has no licence"},
		"no module":     {printed(pkg{Dir: bare}), "knows no folder of the module"},
		"another place": {printed(pkg{Dir: "/", Module: &module{Path: "example.com/bare", Dir: bare}}), "is not in the folder of its module"},
	} {
		if err := run(strings.NewReader(c.packages), []string{t.TempDir()}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}
