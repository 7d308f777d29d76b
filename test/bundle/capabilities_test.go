// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testNames    = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	testDeclared = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	levels       = regexp.MustCompile(`(?m)^## Level [0-9]: (.*)$`)
)

// What is claimed is shown: docs/capabilities.md names a test for each answer, up to the level of the CSV.
func TestCapabilityLevelIsShown(t *testing.T) {
	page := readFile(t, root+"/docs/capabilities.md")
	claimed := readCSV(t, bundleDir).Annotations["capabilities"]
	if !strings.Contains(page, "*"+claimed+"*") {
		t.Errorf("docs/capabilities.md does not claim %s", claimed)
	}
	tests := declaredTests(t)
	for _, match := range testNames.FindAllStringSubmatch(page, -1) {
		if !tests[match[1]] {
			t.Errorf("docs/capabilities.md names %s, and there is no such test", match[1])
		}
	}
	headings := levels.FindAllStringSubmatchIndex(page, -1)
	for i, at := range headings {
		section := page[at[1]:]
		if i+1 < len(headings) {
			section = page[at[1]:headings[i+1][0]]
		}
		expectAnswers(t, page[at[2]:at[3]], section)
		if page[at[2]:at[3]] == claimed {
			return
		}
	}
	t.Errorf("docs/capabilities.md has no section for %s", claimed)
}

// expectAnswers fails for each row of a section's table that names no test, but for what could still be added.
func expectAnswers(t *testing.T, level, section string) {
	t.Helper()
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || !strings.HasSuffix(strings.TrimSpace(cells[0]), "?") {
			continue
		}
		rows++
		if !testNames.MatchString(cells[2]) && !strings.Contains(cells[0], "could still be added") {
			t.Errorf("%s: no test shows: %s", level, strings.TrimSpace(cells[0]))
		}
	}
	if rows < 5 {
		t.Errorf("%s: %d questions are answered", level, rows)
	}
}

// declaredTests returns the names of all tests of the checkout.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(filepath.Join(root, path))
		for _, match := range testDeclared.FindAllSubmatch(content, -1) {
			names[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
