// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"slices"
	"testing"

	"platformapp/test/fault/choice"
)

// selected returns the mutants that the environment asks for: those with the names of FAULT_MUTANT, with FAULT=full all, and
// otherwise one of those that are found quickly, by FAULT_SEED. Whoever asks for plans by their names asks for no mutants.
func selected(t *testing.T) []Mutant {
	t.Helper()
	asked := choice.ForTest(t)
	switch {
	case asked.Mutants.Given():
		return slices.DeleteFunc(All(), func(m Mutant) bool { return !asked.Mutants.Has(m.Name) })
	case asked.Plans.Given():
		t.Skip("plans are asked for by their names, and no mutants")
	case asked.Full:
		return All()
	}
	quick := slices.DeleteFunc(All(), func(m Mutant) bool { return !m.Quick })
	pick := choice.Random(asked.Seed, "mutants").IntN(len(quick))
	return quick[pick : pick+1]
}
