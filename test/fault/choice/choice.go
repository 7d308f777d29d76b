// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package choice

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// PlanEnv names the environment variable that asks for plans by their names.
const PlanEnv = "FAULT_PLAN"

const (
	scopeEnv  = "FAULT"
	seedEnv   = "FAULT_SEED"
	mutantEnv = "FAULT_MUTANT"
)

// Choice is what the environment asks for.
type Choice struct {
	// Full asks for all plans at full length, not for a small sample.
	Full bool
	// Seed decides what is left to chance.
	Seed uint64
	// Plans and Mutants are those that are asked for by their names.
	Plans, Mutants Names
}

// Read reads the choice from the environment.
func Read(env func(string) string) (Choice, error) {
	c := Choice{Seed: 1}
	switch scope := env(scopeEnv); scope {
	case "":
	case "full":
		c.Full = true
	default:
		return c, fmt.Errorf("%s is full or left out, not %q", scopeEnv, scope)
	}
	var err error
	if seed := env(seedEnv); seed != "" {
		if c.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return c, fmt.Errorf("%s is a whole number from 0 to %d, not %q", seedEnv, uint64(math.MaxUint64), seed)
		}
	}
	for variable, names := range map[string]*Names{PlanEnv: &c.Plans, mutantEnv: &c.Mutants} {
		if *names, err = ParseNames(env(variable)); err != nil {
			return c, fmt.Errorf("%s is regular expressions between blanks, each of a whole name: %w", variable, err)
		}
	}
	return c, nil
}

// ForTest returns the choice of this test process; one that cannot be read fails the test.
func ForTest(tb testing.TB) Choice {
	tb.Helper()
	c, err := Read(os.Getenv)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Replay is the command that carries out a plan again, and no other.
func (c Choice) Replay(plan string) string {
	return fmt.Sprintf("%s='%s' %s=%d make test-fault", PlanEnv, Quote(plan), seedEnv, c.Seed)
}

// Random returns a source of chance for a class of decisions, so that one seed gives other numbers to each class.
func Random(seed uint64, class string) *rand.Rand {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(class))
	return rand.New(rand.NewPCG(seed, hash.Sum64()))
}
