// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import "slices"

// All returns the mutants, by what goes wrong.
func All() []Mutant {
	return slices.Concat(ownership, crash, failures, staleness, drift, replicas, statuses, process)
}

// The files that several mutants change.
const (
	fileReconciler = "controllers/reconciler.go"
	fileReporter   = "controllers/reporter.go"
	fileOutcome    = "controllers/outcome.go"
	fileWatches    = "controllers/watches.go"
	fileApply      = "internal/apply/apply.go"
	filePrune      = "internal/apply/prune.go"
	fileWrite      = "internal/apply/write.go"
	fileOwnership  = "internal/workload/ownership.go"
	fileNames      = "internal/workload/names.go"
	fileDeployment = "internal/resources/deployment.go"
	fileFence      = "internal/observe/fence.go"
	fileStale      = "controllers/stale.go"
)
