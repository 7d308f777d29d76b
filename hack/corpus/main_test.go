// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platformapp/test/corpus"
)

func TestVersionIsWrittenOnce(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// A checkout that has this one's files and a corpus of its own.
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("test/corpus", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"config", "internal", "test/corpus/inputs"} {
		if err := os.Symlink(filepath.Join(root, folder), folder); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), []string{"0.1.0"}); err != nil {
		t.Fatal(err)
	}
	version, err := corpus.Read("test/corpus", "0.1.0")
	if err != nil || len(version.Cases) == 0 {
		t.Errorf("written are %d applications: %v", len(version.Cases), err)
	}
	if crds, err := corpus.ReadSchemas("test/corpus/0.1.0/crds"); err != nil || len(crds) != 2 {
		t.Errorf("written are %d schemas: %v", len(crds), err)
	}
	for says, args := range map[string][]string{"there already": {"0.1.0"}, "no semantic version": {"v0.1"}, "want the version": nil} {
		if err := run(t.Context(), args); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("with %v it ends with %v, want %q", args, err, says)
		}
	}
}
