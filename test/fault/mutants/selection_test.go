// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// selected returns the mutants that the environment asks for: those whose whole names FAULT_MUTANT matches, with FAULT=full
// all, and otherwise one of those that are found quickly, by FAULT_SEED.
func selected(t *testing.T) []Mutant {
	t.Helper()
	if expression := os.Getenv("FAULT_MUTANT"); expression != "" {
		pattern, err := regexp.Compile("^(?:" + expression + ")$")
		if err != nil {
			t.Fatalf("FAULT_MUTANT: %v", err)
		}
		return slices.DeleteFunc(All(), func(m Mutant) bool { return !pattern.MatchString(m.Name) })
	}
	if os.Getenv("FAULT") == "full" {
		return All()
	}
	seed := uint64(1)
	if text := os.Getenv("FAULT_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("FAULT_SEED: %v", err)
		}
	}
	quick := slices.DeleteFunc(All(), func(m Mutant) bool { return !m.Quick })
	pick := rand.New(rand.NewPCG(seed, 0)).IntN(len(quick))
	return quick[pick : pick+1]
}
