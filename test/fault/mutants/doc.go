// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package mutants checks the fault suite itself: it builds the operator with bugs that are
// known from other operators, one at a time, and the suite must find each of them. A bug that
// the suite lets pass is a hole in the suite.
//
// A mutant is a few texts of the operator's source with others in their place. They are
// switched in by go build -overlay, into a copy that only the test runs: what is shipped has
// no switch for them.
//
//	catalogue*.go   the mutants, by what goes wrong
//	overlay.go      the patched copies of the sources
//	typecheck.go    whether a mutant still fits the sources, without a build of it
//	table.go        the list for docs/reliability.md
//	*_test.go       whether the suite finds them
package mutants
