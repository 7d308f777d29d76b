// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Signed and published is what is of the version, whatever an earlier one has left.
func TestSignTakesWhatIsOfTheVersion(t *testing.T) {
	root := t.TempDir()
	script, err := os.ReadFile("sign.sh")
	if err != nil {
		t.Fatal(err)
	}
	const manager = "example.com/platformapp:v0.1.0"
	for path, content := range map[string]string{
		"hack/release/sign.sh": string(script),
		// It writes what it is called with, and the bundle of a signature.
		"cosign":                                            "#!/bin/sh\necho \"$@\" >>\"$(dirname \"$0\")/calls\"\n[ $1 != sign-blob ] || touch checksums.txt.sigstore.json\n",
		"dist/digests.txt":                                  manager + "@sha256:1\nexample.com/platformapp-bundle:v0.1.0@sha256:2\n",
		"dist/install.yaml":                                 "",
		"dist/release/old.yaml":                             "",
		"catalog/platformapp/catalog.yaml":                  "",
		"dist/platformapp-v0.1.0-linux-amd64.cdx.json":      "",
		"dist/platformapp-v0.1.0-linux-arm64.cdx.json":      "",
		"dist/platformapp-v0.1.0-rc.1-linux-amd64.cdx.json": "",
		"dist/platformapp-v0.0.9-linux-amd64.cdx.json":      "",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sign := func(image string) (string, error) {
		command := exec.CommandContext(t.Context(), filepath.Join(root, "hack/release/sign.sh"), image)
		command.Env = append(os.Environ(), "COSIGN="+filepath.Join(root, "cosign"), "COSIGN_FLAGS=--key k")
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := sign("example.com/platformapp:v0.2.0"); err == nil || !strings.Contains(out, "dist/digests.txt does not have") {
		t.Errorf("another version: %v, %s", err, out)
	}
	if out, err := sign(manager); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	calls, err := os.ReadFile(filepath.Join(root, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	want := "sign --yes --key k " + manager + `@sha256:1
sign --yes --key k example.com/platformapp-bundle:v0.1.0@sha256:2
attest --yes --key k --type cyclonedx --predicate dist/platformapp-v0.1.0-linux-amd64.cdx.json ` + manager + `@sha256:1
attest --yes --key k --type cyclonedx --predicate dist/platformapp-v0.1.0-linux-arm64.cdx.json ` + manager + `@sha256:1
sign-blob --yes --key k --bundle checksums.txt.sigstore.json checksums.txt
`
	if diff := cmp.Diff(want, string(calls)); diff != "" {
		t.Errorf("cosign is called: -want +got:\n%s", diff)
	}
	entries, err := os.ReadDir(filepath.Join(root, "dist/release"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, entry := range entries {
		files = append(files, entry.Name())
	}
	if diff := cmp.Diff([]string{
		"catalog.yaml", "checksums.txt", "checksums.txt.sigstore.json", "digests.txt", "install.yaml",
		"platformapp-v0.1.0-linux-amd64.cdx.json", "platformapp-v0.1.0-linux-arm64.cdx.json",
	}, files); diff != "" {
		t.Errorf("published are: -want +got:\n%s", diff)
	}
}
