// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package inputs gives the operator every input that its CustomResourceDefinitions let a person write, and those that they
// must not: a campaign over the schema, after Acto (https://github.com/xlab-uiuc/acto).
//
// The schema is walked field by field, beginning with seeds: valid applications in testdata/seeds that together set each
// field. Each field gets the values of values.go; each (field, value) is a plan. What the API server refuses must be named
// by its path. What it stores is either refused by the operator, in words that name the field, or carried out; what is
// carried out once is carried out in the same way when the application comes from another specification, so that taking a
// value away ends as if it had never been there. Transitions are plans of their own.
//
// The operator is a process of its own, before an API server of its own. No other controller runs: a player marks
// Deployments as rolled out and routes as taken up.
//
// Names of plans say in words what is tried. A blank separates what FAULT_PLAN asks for (package choice), so that a dot or
// \x20 stands for one that is part of a name:
//
//	FAULT_PLAN='value/minimal/spec.framework:.left.out' make test-fault
package inputs
