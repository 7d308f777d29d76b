// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"platformapp/test/fault/choice"
	"platformapp/test/fault/results"
)

// packages hold the plans that are none of the campaign's, by what the names of those begin with.
var packages = map[string]string{"lifecycle": "test/fault/lifecycle", "outage": "test/fault/outage"}

// isOfPackage tells whether a plan is one of those.
func isOfPackage(plan string) bool {
	beginning, _, _ := strings.Cut(plan, "/")
	return packages[beginning] != ""
}

// clusters lets one package's tests run at a time: each starts a cluster of its own.
var clusters sync.Mutex

// carryOutIn carries out a plan of a package by its own tests, which build the mutant in place of the operator.
func (b *bench) carryOutIn(t *testing.T, m Mutant, plan string) []string {
	t.Helper()
	beginning, _, _ := strings.Cut(plan, "/")
	folder := filepath.Join(b.root, packages[beginning])
	suite, err := b.suite(t, folder)
	if err != nil {
		t.Fatal(err)
	}
	clusters.Lock()
	defer clusters.Unlock()
	found := t.TempDir()
	command := exec.CommandContext(t.Context(), suite, "-test.timeout=20m")
	command.Dir = folder
	command.Env = append(os.Environ(),
		"GOFLAGS=-overlay="+b.overlay(t, m), choice.PlanEnv+"="+choice.Quote(plan), results.FolderEnv+"="+found)
	output, errOfTests := command.CombinedOutput()
	all, err := results.Read(found)
	if err != nil {
		t.Fatalf("nothing was recorded: %v: %v\n%s", err, errOfTests, output)
	}
	var violations []string
	for _, r := range all {
		violations = append(violations, r.Violations...)
	}
	if errOfTests != nil && len(violations) == 0 {
		t.Fatalf("the tests fail without a violation: %v\n%s", errOfTests, output)
	}
	return violations
}

// suite returns the compiled tests of the package in a folder, which the first call compiles.
func (b *bench) suite(t *testing.T, folder string) (string, error) {
	b.mu.Lock()
	compiled, ok := b.suites[folder]
	if !ok {
		compiled = sync.OnceValues(func() (string, error) {
			output := filepath.Join(b.folder, filepath.Base(folder)+".test")
			command := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", output, ".")
			command.Dir = folder
			if said, err := command.CombinedOutput(); err != nil {
				return "", fmt.Errorf("compile the tests in %s: %w\n%s", folder, err, said)
			}
			return output, nil
		})
		b.suites[folder] = compiled
	}
	b.mu.Unlock()
	return compiled()
}
