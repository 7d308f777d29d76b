// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"platformapp/internal/localcluster"
)

func TestAMutantIsTheSourceWithItsChanges(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n\nvar one, two = 1, 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := Mutant{Name: "m", Changes: []Change{{"a.go", "1, 2", "1, 3"}, {"a.go", "3", "4"}}}
	overlay, err := m.Overlay(root, folder)
	if err != nil {
		t.Fatal(err)
	}
	var read struct{ Replace map[string]string }
	content, err := os.ReadFile(overlay)
	if err == nil {
		err = json.Unmarshal(content, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(read.Replace[filepath.Join(root, "a.go")])
	if err != nil {
		t.Fatal(err)
	}
	if want := "package a\n\nvar one, two = 1, 4\n"; string(copied) != want || len(read.Replace) != 1 {
		t.Errorf("got %q in %v, want %q", copied, read.Replace, want)
	}
}

func TestATextOfAMutantMustOccurOnce(t *testing.T) {
	read := func(string) ([]byte, error) { return []byte("a b b"), nil }
	for text, fits := range map[string]bool{"a": true, "b": false, "c": false} {
		m := Mutant{Name: "m", Changes: []Change{{"a.go", text, "d"}}}
		if _, err := m.patched(read); (err == nil) != fits {
			t.Errorf("%q: %v, want it to fit: %t", text, err, fits)
		}
	}
}

func TestTheCheckerFindsWhatDoesNotCompile(t *testing.T) {
	c := checkerOf(t)
	const file = "internal/workload/stall.go"
	original, err := os.ReadFile(filepath.Join(c.root, file))
	if err != nil {
		t.Fatal(err)
	}
	for what, contents := range map[string]map[string]string{
		"a variable without a use":                   {file: string(original) + "\nfunc unused() { a := 1 }\n"},
		"a constant that other packages use, gone":   {file: "package workload\n"},
		"a file that is not the operator's":          {"internal/workload/stall_test.go": "package workload\n"},
		"a file of the operator and one that is not": {file: string(original), "hack/demo/main.go": "package main\n"},
	} {
		if c.check(contents) == nil {
			t.Errorf("%s passes", what)
		}
	}
	if err := c.check(map[string]string{file: string(original) + "\n// More.\n"}); err != nil {
		t.Errorf("a comment: %v", err)
	}
}

// TestMutantsFitTheSources finds the mutants that a change of the operator has left behind.
func TestMutantsFitTheSources(t *testing.T) {
	c := checkerOf(t)
	names := map[string]bool{}
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) {
			if m.Name == "" || m.Bug == "" || len(m.Changes) == 0 || names[m.Name] {
				t.Error("it has no name of its own, no description or no change")
			}
			names[m.Name] = true
			contents, err := m.patched(func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(c.root, file)) })
			if err != nil {
				t.Fatal(err)
			}
			if err := c.check(contents); err != nil {
				t.Error(err)
			}
		})
	}
}

func checkerOf(t *testing.T) *checker {
	t.Helper()
	root, err := localcluster.CheckoutRoot()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newChecker(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
