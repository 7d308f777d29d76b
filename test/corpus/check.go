// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"
)

// Problem is what an upgrade would do to an application of a version.
type Problem struct {
	// Version and Case name the application.
	Version, Case string
	// Restarts tells that the upgrade would restart its pods and do nothing else.
	Restarts bool
	// Message says what would happen.
	Message string
}

func (p Problem) String() string { return fmt.Sprintf("%s of %s: %s", p.Case, p.Version, p.Message) }

// Check returns what an upgrade from a version to the operator and its schemas would do to
// the applications of the version; nothing is as it should be.
func (op Operator) Check(ctx context.Context, version Version, schemas Schemas) ([]Problem, error) {
	var problems []Problem
	for _, c := range version.Cases {
		found, err := op.checkCase(ctx, c, schemas)
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", c.Name, version.Name, err)
		}
		for _, problem := range found {
			problem.Version, problem.Case = version.Name, c.Name
			problems = append(problems, problem)
		}
	}
	return problems, nil
}

func (op Operator) checkCase(ctx context.Context, c Case, schemas Schemas) ([]Problem, error) {
	object, err := readObject(c.Object)
	if err != nil {
		return nil, err
	}
	if !schemas.Serve(object) {
		return []Problem{{Message: "the API is no longer served"}}, nil
	}
	dropped, err := schemas.Load(object)
	if err != nil {
		return nil, err
	}
	var problems []Problem
	for _, field := range dropped {
		problems = append(problems, Problem{Message: "the schema no longer knows " + field})
	}
	refusals, err := schemas.Refusals(ctx, object)
	if err != nil {
		return nil, err
	}
	for _, refusal := range refusals {
		problems = append(problems, Problem{Message: "the schema no longer accepts " + refusal.Error()})
	}
	if c.Frozen == nil {
		return problems, nil
	}
	now, refusal, err := op.Render(object, c.Cluster)
	if err != nil {
		return nil, err
	}
	if refusal != "" {
		return append(problems, Problem{Message: "the specification is refused now: " + refusal}), nil
	}
	changes, err := c.Frozen.changes(now)
	return append(problems, changes...), err
}

// changes tells what is not as it was.
func (was *Frozen) changes(now *Frozen) ([]Problem, error) {
	var problems []Problem
	for _, child := range was.Children {
		if !slices.Contains(now.Children, child) {
			problems = append(problems, Problem{Message: child + " is no longer made"})
		}
	}
	if diff := cmp.Diff(was.Replicas, now.Replicas); diff != "" {
		problems = append(problems, Problem{Message: "another number of pods is asked for (-was +now):\n" + diff})
	}
	type part struct {
		name     string
		was, now map[string]any
		restarts bool
	}
	parts := []part{
		{"the selector, which cannot change,", was.Selector, now.Selector, false},
		{"the pod template", was.PodTemplate, now.PodTemplate, true},
	}
	if was.Service != nil { // One that comes new cuts nobody off.
		parts = append(parts, part{"the Service", was.Service, now.Service, false})
	}
	for _, part := range parts {
		old, err := yaml.Marshal(part.was)
		if err != nil {
			return nil, err
		}
		present, err := yaml.Marshal(part.now)
		if err != nil {
			return nil, err
		}
		if diff := cmp.Diff(strings.Split(string(old), "\n"), strings.Split(string(present), "\n")); diff != "" {
			problems = append(problems, Problem{Message: part.name + " is another (-was +now):\n" + diff, Restarts: part.restarts})
		}
	}
	return problems, nil
}

// Restart is a change of a version that restarts pods on purpose.
type Restart struct {
	// Version that brings the change: applications of older versions may change.
	Version string `json:"version"`
	// Cases are patterns of the names of the cases that change, such as preset-java-*.
	Cases []string `json:"cases"`
	// Changelog is what CHANGELOG.md says of it, to the letter.
	Changelog string `json:"changelog"`
}

// covers tells whether the problem is what the version meant to do.
func (r Restart) covers(p Problem) bool {
	return p.Restarts && semver.Compare("v"+p.Version, "v"+r.Version) < 0 &&
		slices.ContainsFunc(r.Cases, func(pattern string) bool {
			matches, err := path.Match(pattern, p.Case)
			return err == nil && matches
		})
}

// Unmeant returns the problems that no restart covers, and the restarts that cover none,
// by what the changelog says of them.
func Unmeant(problems []Problem, restarts []Restart) (unmeant []Problem, needless []string) {
	used := make([]bool, len(restarts))
	for _, problem := range problems {
		covered := false
		for i, restart := range restarts {
			if restart.covers(problem) {
				covered, used[i] = true, true
			}
		}
		if !covered {
			unmeant = append(unmeant, problem)
		}
	}
	for i, restart := range restarts {
		if !used[i] {
			needless = append(needless, strings.TrimSpace(restart.Changelog))
		}
	}
	return unmeant, needless
}
