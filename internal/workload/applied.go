// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

// Applied is what came of applying an owner's children.
type Applied struct {
	// Generation is the metadata.generation of the Deployment since which its specification
	// is what it is, or 0 if that is not known: then its present generation counts. What was
	// observed of an earlier one is out of date. A label or an annotation that changed makes
	// a generation too, but nothing out of date.
	Generation int64
	// Conflicts are children whose name an object of somebody else has.
	Conflicts []Conflict
	// Terminating names, by kind, the children that cannot be made before an object of
	// their name is gone, which is being deleted.
	Terminating []string
	// Modified names fields that admission changes on the way in, as kind and path.
	Modified []string
	// Repaired names, by kind, the children that somebody had changed or deleted and that
	// are as they should be again.
	Repaired []string
	// Waiting names, by kind, the children for which a change waits until the application is
	// no longer paused.
	Waiting []string
	// Failure is why a child could not be applied, or nil.
	Failure *Failure
}

// Conflict is a name that is taken.
type Conflict struct {
	// Kind and Name of the object.
	Kind, Name string
	// Controller of that object, as kind and name, or empty.
	Controller string
	// Obstacle is the path of the immutable field for which an object that consents to its
	// adoption cannot be adopted, or empty.
	Obstacle string
}

// FailureReason sorts failures by who has to act.
type FailureReason string

// The reasons why a child could not be applied.
const (
	// FailureForbidden: the operator lacks a right.
	FailureForbidden FailureReason = "Forbidden"
	// FailureInvalid: the child breaks a rule of the API server, whenever it is tried.
	FailureInvalid FailureReason = "Invalid"
	// FailureRefused: an admission policy or a webhook, which may change, refuses the child.
	FailureRefused FailureReason = "Refused"
	// FailureQuota: a ResourceQuota refuses the child.
	FailureQuota FailureReason = "Quota"
	// FailureNamespaceTerminating: the namespace is being deleted.
	FailureNamespaceTerminating FailureReason = "NamespaceTerminating"
	// FailureUnserved: the API server does not serve the child's kind, or no longer.
	FailureUnserved FailureReason = "Unserved"
	// FailureTransient: the API server could not be asked, or asks to try again.
	FailureTransient FailureReason = "Transient"
)

// Failure is why a child could not be applied.
type Failure struct {
	Reason FailureReason
	// Kind of the child, or what failed if it was none.
	Kind string
	// Message holds the server's words.
	Message string
}
