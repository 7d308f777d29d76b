// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

// Applied is what came of applying an owner's children.
type Applied struct {
	// Generation is the metadata.generation of the Deployment after it was written, or 0
	// when it was not: what was observed of an earlier generation is out of date.
	Generation int64
	// Conflicts are children whose name an object of somebody else has.
	Conflicts []Conflict
	// Terminating names, by kind, the children that cannot be made before an object of
	// their name is gone, which is being deleted.
	Terminating []string
	// Modified names fields that admission changes on the way in, as kind and path.
	Modified []string
	// Failure is why a child could not be applied, or nil.
	Failure *Failure
}

// Conflict is a name that is taken.
type Conflict struct {
	// Kind of the object that has the name.
	Kind string
	// Controller of that object, as kind and name, or empty.
	Controller string
}

// FailureReason sorts failures by who has to act.
type FailureReason string

// The reasons why a child could not be applied.
const (
	// FailureForbidden: the operator lacks a right.
	FailureForbidden FailureReason = "Forbidden"
	// FailureRefused: validation or an admission policy refuses the child.
	FailureRefused FailureReason = "Refused"
	// FailureQuota: a ResourceQuota refuses the child.
	FailureQuota FailureReason = "Quota"
	// FailureNamespaceTerminating: the namespace is being deleted.
	FailureNamespaceTerminating FailureReason = "NamespaceTerminating"
	// FailureTransient: the API server could not be asked, or asks to try again.
	FailureTransient FailureReason = "Transient"
)

// Failure is why a child could not be applied.
type Failure struct {
	Reason FailureReason
	// Kind of the child.
	Kind string
	// Message holds the server's words.
	Message string
}
