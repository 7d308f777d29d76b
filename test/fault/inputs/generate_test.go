// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readAll(t testing.TB) (map[string]Kind, []Seed) {
	t.Helper()
	kinds, err := ReadKinds(filepath.Join("..", "..", "..", "config", "crd", "bases"))
	if err != nil {
		t.Fatal(err)
	}
	seeds, err := ReadSeeds(filepath.Join("testdata", "seeds"), kinds)
	if err != nil {
		t.Fatal(err)
	}
	return kinds, seeds
}

// unsettable are fields that are there to be refused with a reason; no seed can set them and be valid.
var unsettable = map[string][]string{"EGApp": {"spec.probes.readiness.terminationGracePeriodSeconds"}}

// A field that no seed sets would get no value at all.
func TestSeedsSetEachFieldOfTheSchemas(t *testing.T) {
	kinds, seeds := readAll(t)
	for name, kind := range kinds {
		var set []string
		for _, seed := range seeds {
			for _, f := range seed.fields {
				if seed.Kind.Kind == name && !f.free && !f.absent {
					set = append(set, f.Pattern)
				}
			}
		}
		set = append(set, unsettable[name]...)
		slices.Sort(set)
		if diff := cmp.Diff(kind.fields(), slices.Compact(set)); diff != "" {
			t.Errorf("%s (-fields of the schema +set by a seed):\n%s", name, diff)
		}
	}
}

func TestEachValueIsOneOfItsField(t *testing.T) {
	_, seeds := readAll(t)
	chosen, count := chosenFields(seeds), 0
	for _, seed := range seeds {
		for _, f := range chosen[seed.Name] {
			names := map[string]bool{}
			for _, v := range f.values() {
				count++
				if names[v.Name] {
					t.Errorf("%s of %s: two values are called %q", f.Path, seed.Name, v.Name)
				}
				names[v.Name] = true
				content, err := written(seed.Object, f.Path, v.JSON)
				if err != nil {
					t.Errorf("%s of %s, %s: %v", f.Path, seed.Name, v.Name, err)
				} else if !json.Valid(content) || bytes.Contains(content, []byte(rawMark)) {
					t.Errorf("%s of %s, %s is no JSON: %.300s", f.Path, seed.Name, v.Name, content)
				}
			}
			if len(names) < 6 {
				t.Errorf("%s of %s has %d values: %v", f.Path, seed.Name, len(names), names)
			}
		}
	}
	t.Logf("%d values", count)
}

func TestEditingADocumentLeavesTheOriginalAlone(t *testing.T) {
	var document map[string]any
	const before = `{"a":{"b":[{"c":1},{"c":2}]},"d":"e"}`
	if err := json.Unmarshal([]byte(before), &document); err != nil {
		t.Fatal(err)
	}
	path := Path{"a", "b", 1, "c"}
	if got := path.String(); got != "a.b[1].c" {
		t.Errorf("the path is spelt %s", got)
	}
	got, err := written(document, path, `3,"c":4`)
	if want := `{"a":{"b":[{"c":1},{"c":3,"c":4}]},"d":"e"}`; err != nil || string(got) != want {
		t.Errorf("written is %s (%v), want %s", got, err, want)
	}
	without, err := removed(document, path)
	if want := `{"a":{"b":[{"c":1},{}]},"d":"e"}`; err != nil || text(without) != want {
		t.Errorf("removed is %s (%v), want %s", text(without), err, want)
	}
	without, err = removed(document, Path{"a", "b", 0})
	if want := `{"a":{"b":[{"c":2}]},"d":"e"}`; err != nil || text(without) != want {
		t.Errorf("removed is %s (%v), want %s", text(without), err, want)
	}
	if _, err := replaced(document, Path{"a", "x", 0}, 1); err == nil || !strings.Contains(err.Error(), "a.x[0]") {
		t.Errorf("a path that leads nowhere gives %v", err)
	}
	if got := text(document); got != before {
		t.Errorf("the document is now %s", got)
	}
}
