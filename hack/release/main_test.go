// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// released returns a checkout of which v0.2.0 can be released.
func released(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range map[string]string{
		"Makefile":     "VERSION ?= 0.2.0\n",
		"CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-01-02\n\n### Added\n\n- New.\n\n## [0.1.0] - 2025-01-02\n\n- Old.\n\n[0.1.0]: https://example.com\n",
		"bundle/manifests/platformapp.clusterserviceversion.yaml": "metadata:\n  name: platformapp.v0.2.0\nspec:\n  version: 0.2.0\n",
		"catalog/platformapp/catalog.yaml":                        "schema: olm.channel\nentries:\n- name: platformapp.v0.2.0\n",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// What the corpus is made of is that of this checkout.
	if err := os.MkdirAll(filepath.Join(root, "test", "corpus"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"config", "internal", "test/corpus/inputs"} {
		there, err := filepath.Abs(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(there, filepath.Join(root, path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := record(t.Context(), root, filepath.Join(root, "test", "corpus"), "0.2.0"); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestCheck(t *testing.T) {
	root := released(t)
	if err := check(t.Context(), root, "v0.2.0"); err != nil {
		t.Errorf("a checkout of the version is refused: %v", err)
	}
	for _, tag := range []string{"0.2.0", "v0.2", "v0.2.0 ", "latest", "v0.2.0+build", `v0.2.0";id;"`} {
		if err := check(t.Context(), root, tag); err == nil || !strings.Contains(err.Error(), "the tag must be v and a semantic version") {
			t.Errorf("the tag %q: %v", tag, err)
		}
	}
	err := check(t.Context(), root, "v0.3.0")
	for _, want := range []string{
		"there is no line VERSION ?= 0.3.0 in Makefile", "CHANGELOG.md: there is nothing", "it is platformapp.v0.2.0 of version 0.2.0",
		"catalog: there is no platformapp.v0.3.0", "test/corpus/0.3.0 is not there",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of another version: got %v, want an error with %q", err, want)
		}
	}
	// Each of these is looked at by itself.
	for _, path := range []string{"Makefile", "CHANGELOG.md", "bundle", "catalog", "test/corpus/0.2.0"} {
		path = filepath.Join(root, path)
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		if err := check(t.Context(), root, "v0.2.0"); err == nil {
			t.Errorf("without %s it is taken", path)
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
}

// A corpus that is half of one, or of other CustomResourceDefinitions than are released, would let a later version
// break what it leaves out.
func TestCheckRefusesAStaleCorpus(t *testing.T) {
	root := released(t)
	const crd, kept = "crds/devops.my.domain_demomicroservices.yaml", "own-paused.yaml"
	folder := filepath.Join(root, "test", "corpus", "0.2.0")
	for _, path := range []string{crd, kept} {
		content, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			t.Fatal(err)
		}
		for says, spoil := range map[string]func(string) error{
			path + " is missing":               os.Remove,
			path + " is another":               func(file string) error { return os.WriteFile(file, append(content, '\n'), 0o600) },
			path + ".old.yaml is one too many": func(file string) error { return os.WriteFile(file+".old.yaml", content, 0o600) },
		} {
			file := filepath.Join(folder, path)
			if err := spoil(file); err != nil {
				t.Fatal(err)
			}
			if err := checkCorpus(t.Context(), root, "0.2.0"); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want %q", err, says)
			}
			if err := os.RemoveAll(file + ".old.yaml"); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := checkCorpus(t.Context(), root, "0.2.0"); err != nil {
		t.Errorf("whole again it is refused: %v", err)
	}
}

func TestNotes(t *testing.T) {
	root := released(t)
	var out strings.Builder
	if err := run(t.Context(), root, []string{"notes", "0.2.0"}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "### Added\n\n- New.\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	out.Reset()
	if err := run(t.Context(), root, []string{"notes", "0.1.0"}, &out); err != nil || out.String() != "- Old.\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	for _, args := range [][]string{{}, {"notes"}, {"notes", "0.3.0"}, {"publish", "0.2.0"}} {
		if err := run(t.Context(), root, args, io.Discard); err == nil {
			t.Errorf("release %s is taken", strings.Join(args, " "))
		}
	}
}
