// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle takes the operator, and applications with it, through what comes to them in their lives: leaders that
// end, are killed or sleep, clocks that are wrong, an upgrade and a downgrade, kills and restarts, many objects that fail,
// bursts of changes, deletions and namespaces that go. Its tests are all that it holds.
//
// All run on one whole local cluster, each plan with operators, rights and a namespace of its own. What the operators wrote
// is read from the audit log of the API server. A plan's name is all that is needed to carry it out again:
//
//	FAULT_PLAN='lifecycle/leader-killed/EGApp/1' make test-fault
//
// Without FAULT=full each test carries out one plan, which FAULT_SEED picks, on fewer objects (package choice).
package lifecycle
