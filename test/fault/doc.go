// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package fault injects faults into the operator and compares what comes of it with a run without any, after the method of
// Sieve (https://www.usenix.org/conference/osdi22/presentation/sun).
//
// A [Scenario] is what users do to an application, step by step. It is carried out on a whole local cluster by an operator
// that runs as a process behind a proxy, in a namespace of its own. Without a fault that gives the [Reference]: the writes,
// the state after each step, and how often each object was created and deleted. From the reference follow the plans: for each
// write the operator killed before it, killed after it, its answer lost, and each error that the API server may give; for
// each kind that is watched, the watch frozen, delayed, cut, repeating itself or losing events.
//
// Each [Plan] is then carried out and must end as the reference: that is what the oracles ask (oracle*.go). Names of plans
// say all that is needed to carry one out again, but for the seed of pairs and of shuffled events (package choice):
//
//	FAULT_PLAN='EGApp/update/killed-after/apply-deployments-2' make test-fault
package fault
