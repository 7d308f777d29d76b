// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
)

// parallelMutants is how many mutants are examined at once: their plans wait nearly all of the time.
const parallelMutants = 10

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	// Nothing of controller-runtime's own logging is of interest here.
	log.SetLogger(logr.Discard())
	if err := testutil.RunInParallel(parallelMutants); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestTheFaultSuiteFindsTheMutants carries out the plans that are to find the mutants, and those of the campaign with the
// true operator too, which they must let pass.
func TestTheFaultSuiteFindsTheMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a local cluster")
	}
	mutants := selected(t)
	if len(mutants) == 0 {
		t.Fatal("there is no such mutant")
	}
	b := newBench(t)
	plans := map[string]bool{}
	for _, m := range mutants {
		for _, plan := range m.Plans {
			if !isOfPackage(plan) {
				plans[plan] = true
			}
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			plan, violations := b.examine(t, m)
			if len(violations) == 0 {
				t.Errorf("no plan finds it: %v\ntry it again: FAULT_MUTANT=%s go test ./test/fault/mutants", m.Plans, m.Name)
				return
			}
			t.Logf("%s finds it after %s:\n%s", plan, time.Since(start).Round(time.Second), strings.Join(violations, "\n"))
		})
	}
	for plan := range plans {
		t.Run("without a bug: "+plan, func(t *testing.T) {
			t.Parallel()
			if violations := b.carryOut(t, plan, b.truth); len(violations) > 0 {
				t.Errorf("the plan finds a bug where none is:\n%s", strings.Join(violations, "\n"))
			}
		})
	}
}
