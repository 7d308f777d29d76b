// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/security.md says by which test each promise is kept: the test is there, in that package.
func TestDocumentationNamesTestsThatExist(t *testing.T) {
	tests := map[string]bool{}
	for _, file := range matching(t, `_test\.go$`) {
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(read(t, file), -1) {
			tests[filepath.Dir(file)+" "+match[1]] = true
		}
	}
	rows := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (S\d+) \|.*$`).FindAllStringSubmatch(read(t, "docs/security.md"), -1) {
		rows[row[1]] = true
		dir := ""
		for _, word := range regexp.MustCompile("`[\\w./]+`|Test\\w+").FindAllString(row[0], -1) {
			if !strings.HasPrefix(word, "Test") {
				if dir = strings.Trim(word, "`"); dir == "main" {
					dir = "."
				}
				continue
			}
			// What is named twice stands without its package.
			if !tests[dir+" "+word] && !tests["test/security "+word] {
				t.Errorf("%s: %s has no %s", row[1], dir, word)
			}
		}
	}
	for i := 1; i <= 22; i++ {
		if !rows[fmt.Sprintf("S%d", i)] {
			t.Errorf("there is no row S%d", i)
		}
	}
	// Numbers that change with the code.
	said := strings.Join(strings.Fields(read(t, "docs/security.md")), " ")
	for _, text := range []string{
		fmt.Sprintf("%d pairs of resource and verb", maxRights),
		fmt.Sprintf("at most %d rights", maxRights),
		fmt.Sprintf("%d attacks that are refused", strings.Count(read(t, "internal/resources/testdata/attacks.yaml"), "\n- name: ")),
		fmt.Sprintf("%d more that are not", strings.Count(read(t, "test/security/attacker_test.go"), "\n\town(\"")),
	} {
		if !strings.Contains(said, text) {
			t.Errorf("docs/security.md does not say %q", text)
		}
	}
}
