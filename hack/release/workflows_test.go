// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// workflow is what these tests read of one of GitHub.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]job
}

type job struct {
	Permissions map[string]string
	Environment string
	Strategy    struct {
		Matrix struct{ Include []struct{ Run string } }
	}
	Steps []step
}

type step struct {
	Uses, Run string
	Env       map[string]string
}

// workflows returns all workflows by the names of their files.
func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	files, err := filepath.Glob("../../.github/workflows/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no workflow: %v", err)
	}
	all := map[string]workflow{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(content, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[filepath.Base(file)] = w
	}
	return all
}

// scripts returns what a job runs.
func (j job) scripts() []string {
	var scripts []string
	for _, step := range j.Steps {
		scripts = append(scripts, step.Run)
	}
	for _, choice := range j.Strategy.Matrix.Include {
		scripts = append(scripts, choice.Run)
	}
	return scripts
}

// targets returns the targets of the Makefile that a job runs.
func (j job) targets() []string {
	var targets []string
	for _, script := range j.scripts() {
		for _, match := range regexp.MustCompile(`(?m)^make (?:-C \S+ )?(.*)$`).FindAllStringSubmatch(script, -1) {
			for word := range strings.FieldsSeq(match[1]) {
				if !strings.Contains(word, "=") {
					targets = append(targets, word)
				}
			}
		}
	}
	return targets
}

func (w workflow) targets() []string {
	var targets []string
	for _, job := range w.Jobs {
		targets = append(targets, job.targets()...)
	}
	return targets
}

// The workflows do what anybody can do with make: each target that they name is one of the Makefile.
func TestWorkflowsNameTargetsOfTheMakefile(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(string(makefile), -1) {
		targets[match[1]] = true
	}
	named := 0
	for name, w := range workflows(t) {
		for _, target := range w.targets() {
			named++
			if !targets[target] {
				t.Errorf("%s: there is no make %s", name, target)
			}
		}
	}
	if named < 10 {
		t.Errorf("the workflows name %d targets: are they read?", named)
	}
}

// What others name, a tag or a branch, reaches a script by the environment only: in its text, or in that of a variable of
// make, the shell would carry it out.
func TestNoTextOfOthersIsCarriedOut(t *testing.T) {
	for name, w := range workflows(t) {
		for title, job := range w.Jobs {
			for _, script := range job.scripts() {
				// The matrix is text of the workflow itself.
				if strings.Contains(strings.ReplaceAll(script, "${{ matrix.run }}", ""), "${{") {
					t.Errorf("%s: job %s: give it by env: %s", name, title, script)
				}
				if regexp.MustCompile(`(?m)^make .*=["']?\$`).MatchString(script) {
					t.Errorf("%s: job %s: give it by env, and not as a variable of make: %s", name, title, script)
				}
			}
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`\$[({]TAG[)}]`).Match(makefile) {
		t.Error("Makefile: write $$TAG, which is the shell's variable")
	}
}

// A job of the release that may write something runs nothing but what writes it: all that is built, by programs of
// others, is built where there is nothing to take.
func TestJobsThatMayWriteRunLittle(t *testing.T) {
	release := workflows(t)["release.yaml"]
	if release.Permissions == nil || len(release.Permissions) > 0 {
		t.Error("the workflow itself must have no permissions: each job has its own")
	}
	// By what a job may do: the targets that it runs.
	allowed := map[string]string{
		"contents: write":                         "",
		"contents: read, id-token: write, secret": "release-push release-sign",
	}
	found := map[string]bool{}
	for title, job := range release.Jobs {
		rights := []string{}
		for _, scope := range slices.Sorted(maps.Keys(job.Permissions)) {
			rights = append(rights, scope+": "+job.Permissions[scope])
		}
		secret := job.Environment != ""
		for _, step := range job.Steps {
			for _, value := range step.Env {
				secret = secret || strings.Contains(value, "secrets.")
			}
		}
		if secret {
			rights = append(rights, "secret")
		}
		may := strings.Join(rights, ", ")
		if may == "contents: read" {
			continue
		}
		targets, ok := allowed[may]
		if got := strings.Join(job.targets(), " "); !ok || got != targets {
			t.Errorf("job %s may %s and runs make %q, not %q", title, may, got, targets)
		}
		for _, step := range job.Steps {
			if targets == "" && strings.HasPrefix(step.Uses, "actions/checkout@") {
				t.Errorf("job %s may %s and needs no checkout", title, may)
			}
		}
		found[may] = true
	}
	if len(found) != len(allowed) {
		t.Errorf("found are jobs that may %v", slices.Collect(maps.Keys(found)))
	}
}
