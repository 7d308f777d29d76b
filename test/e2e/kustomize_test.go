// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// N44: with the project's configuration kustomize's images, replicas, prefixes and generated names reach every place of
// an EGApp that names an image or an object, and what comes of it is one that the API server takes.
func TestN44KustomizeReachesEveryReference(t *testing.T) {
	s := newSharedScene(t)
	folder := t.TempDir()
	for name, source := range map[string]string{
		"kustomization.yaml": filepath.Join("testdata", "kustomize", "kustomization.yaml"),
		"resources.yaml":     filepath.Join("testdata", "kustomize", "resources.yaml"),
		"configuration.yaml": filepath.Join(s.root, "config", "kustomize", "egapp.yaml"),
	} {
		content, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.Join("testdata", "kustomize", "built.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), s.kubectl("kustomize", folder)); diff != "" {
		t.Errorf("kubectl kustomize builds (-want +got):\n%s", diff)
	}
	s.kubectl("apply", "--server-side", "--namespace", s.namespace("kustomize"), "--kustomize", folder)
}
