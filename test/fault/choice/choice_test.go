// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package choice

import (
	"os/exec"
	"strings"
	"testing"
)

// environment makes an environment of variables.
func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

// TestRead tells what is asked for.
func TestRead(t *testing.T) {
	c, err := Read(environment(nil))
	if err != nil || c.Full || c.Seed != 1 || c.Plans.Given() || c.Mutants.Given() {
		t.Errorf("nothing is asked for: %+v, %v", c, err)
	}
	c, err = Read(environment(map[string]string{
		"FAULT": "full", "FAULT_SEED": "18446744073709551615", "FAULT_PLAN": "a b", "FAULT_MUTANT": "c",
	}))
	if err != nil || !c.Full || c.Seed != 1<<64-1 {
		t.Errorf("all is asked for: %+v, %v", c, err)
	}
	if !c.Plans.Has("b") || c.Plans.Has("c") || !c.Mutants.Has("c") || c.Mutants.Has("a") {
		t.Errorf("the names of plans and of mutants are %v and %v", c.Plans, c.Mutants)
	}
}

// TestErrors tells that an error names the variable and its rule.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ variable, value, want string }{
		{"FAULT", "Full", `FAULT is full or left out, not "Full"`},
		{"FAULT_SEED", "-1", `FAULT_SEED is a whole number from 0 to 18446744073709551615, not "-1"`},
		{"FAULT_SEED", "18446744073709551616", "FAULT_SEED is a whole number"},
		{"FAULT_SEED", "one", "FAULT_SEED is a whole number"},
		{"FAULT_PLAN", "a (", "FAULT_PLAN is regular expressions between blanks, each of a whole name: error parsing regexp"},
		{"FAULT_MUTANT", "a)|(b", "FAULT_MUTANT is regular expressions between blanks, each of a whole name: error parsing regexp"},
	} {
		_, err := Read(environment(map[string]string{c.variable: c.value}))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s=%s: %v, want %s", c.variable, c.value, err, c.want)
		}
	}
}

// TestReplay tells that a shell and Read take the command as the plan and the seed that it was made of.
func TestReplay(t *testing.T) {
	for _, plan := range oddNames {
		command := Choice{Seed: 3}.Replay(plan)
		script := strings.Replace(command, "make test-fault", "printenv FAULT_PLAN FAULT_SEED", 1)
		if strings.Contains(command, "\n") || script == command {
			t.Errorf("the command is %q", command)
			continue
		}
		said, err := exec.CommandContext(t.Context(), "sh", "-c", script).Output()
		if err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		lines := strings.Split(string(said), "\n")
		c, err := Read(environment(map[string]string{"FAULT_PLAN": lines[0], "FAULT_SEED": lines[1]}))
		if err != nil || c.Seed != 3 || !c.Plans.Has(plan) || c.Plans.Has(plan+"1") {
			t.Errorf("%s is read as %+v (%v)", command, c, err)
		}
	}
}

// TestRandom tells that seed and class decide, and nothing else.
func TestRandom(t *testing.T) {
	first := Random(1, "a").Uint64()
	if Random(1, "a").Uint64() != first {
		t.Error("one seed and one class give two numbers")
	}
	if Random(2, "a").Uint64() == first || Random(1, "b").Uint64() == first {
		t.Error("another seed or class gives the same number")
	}
}
