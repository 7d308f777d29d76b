// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package controllers runs the loop that keeps applications as they are asked for.
//
// Both kinds share one loop (reconciler.go); a kind adds how it is read and translated
// (egapp_controller.go, demomicroservice_controller.go). A turn of the loop reads once,
// decides in pure functions and writes last:
//
//	EGApp | DemoMicroService -> translate -> Workload
//	                            observe   -> Observed
//	        Workload, Observed -> checks (an older EGApp with the appId, the ServiceAccount) -> Stall
//	        Workload, Observed -> resources.Desired -> apply, prune -> Applied
//	        Workload, Observed, Applied or Stall -> status.Compute -> one status patch
//
// What stalls or is paused is not applied: what runs stays as it is. The kinds of children
// that a cluster may lack are watched while it has them (optional.go).
//
// A turn that finds everything as it should be writes nothing and asks the API server
// nothing. There is no finalizer: children carry owner references and garbage collection
// removes them, also while the operator is not running.
package controllers
