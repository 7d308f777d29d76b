// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"platformapp/internal/workload"
)

// missingRight matches the words of the API server's authorizer, which admission
// plugins, whose refusals are Forbidden as well, do not use.
var missingRight = regexp.MustCompile(`User ".*" cannot \w+ resource`)

// policyDenial matches the words of admission by a policy or a webhook of the cluster.
var policyDenial = regexp.MustCompile(`AdmissionPolicy '|admission webhook "`)

// errUnseen is the refusal of mustBeSeen.
var errUnseen = errors.New("admission removes the label " + workload.LabelManagedBy + ", without which the operator cannot see the object")

// staleWords are the words in which the API server tells that what a write was decided on is
// there no more.
var staleWords = regexp.MustCompile("the object has been modified|does not match the (ResourceVersion|UID) in record|Precondition failed|uid mismatch")

// isStale tells that a write met another state of the cluster than it was decided on. A
// webhook may deny with the same code, which is no reason to try again at once.
func isStale(err error) bool {
	return apierrors.IsAlreadyExists(err) || (apierrors.IsConflict(err) && staleWords.MatchString(err.Error()))
}

// conflictOf returns the error of an apply, as a conflict if it is one in the words of the
// validation: the object of the UID that was applied to is gone, and another one has its name.
func conflictOf(in *intent, err error) error {
	isUID := func(cause metav1.StatusCause) bool { return cause.Field == "metadata.uid" }
	if !apierrors.IsInvalid(err) || !slices.ContainsFunc(statusCauses(err), isUID) {
		return err
	}
	return apierrors.NewConflict(schema.GroupResource{Resource: in.child.Kind}, in.child.Name, errors.New("uid mismatch: "+err.Error()))
}

// definitionEnds are the words in which the API server refuses to make an object of a kind
// whose definition is being deleted.
const definitionEnds = "custom resource definition is terminating"

// IsUnserved tells whether a request failed because the API server does not serve the kind,
// or no longer: it knows no such path, which it says in plain text, unlike that an object is
// not there.
func IsUnserved(err error) bool {
	switch {
	case meta.IsNoMatchError(err):
		return true
	case apierrors.IsNotFound(err):
		return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	default:
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), definitionEnds)
	}
}

// isTaken tells that an object was not created, since there may be one of its name.
func isTaken(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

// failureOf sorts the error of a write by who has to act, or returns nil for a conflict
// with another writer and for what was decided by the past, after which the operator looks again.
func failureOf(kind string, err error) *workload.Failure {
	failure := &workload.Failure{Reason: workload.FailureTransient, Kind: kind, Message: err.Error()}
	switch {
	case isStale(err), errors.Is(err, ErrOutdated):
		return nil
	case IsUnserved(err):
		failure.Reason = workload.FailureUnserved
	case errors.Is(err, errUnseen):
		failure.Reason = workload.FailureRefused
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		failure.Reason = workload.FailureNamespaceTerminating
	case apierrors.IsForbidden(err) && missingRight.MatchString(err.Error()):
		failure.Reason = workload.FailureForbidden
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
		failure.Reason = workload.FailureQuota
	case breaksRule(err):
		failure.Reason = workload.FailureInvalid
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		failure.Reason = workload.FailureRefused
	}
	return failure
}

// unknownField are the words in which an API server that is older than a field refuses to
// apply it. It calls that an error of its own.
const unknownField = "field not declared in schema"

// tooLarge are the words in which etcd and its client refuse to store an object of more than they take, which the API server
// passes on as an error of its own.
var tooLarge = regexp.MustCompile("etcdserver: request is too large|trying to send message larger than max")

// breaksRule tells that the API server itself refuses what is written, by rules that stay.
// Policies and webhooks, which people change, may deny with the same codes.
func breaksRule(err error) bool {
	switch {
	case policyDenial.MatchString(err.Error()):
		return false
	case apierrors.IsInvalid(err):
		return namesField(err)
	case strings.Contains(err.Error(), unknownField), tooLarge.MatchString(err.Error()):
		return true
	default:
		return apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
	}
}

// namesField tells whether a refusal names a field, as that of the validation does.
func namesField(err error) bool {
	return slices.ContainsFunc(statusCauses(err), func(cause metav1.StatusCause) bool { return cause.Field != "" })
}

// statusCauses returns the causes that a refusal gives.
func statusCauses(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}
