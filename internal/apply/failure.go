// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"platformapp/internal/workload"
)

// missingRight matches the words of the API server's authorizer, which admission
// plugins, whose refusals are Forbidden as well, do not use.
var missingRight = regexp.MustCompile(`User ".*" cannot \w+ resource`)

// errUnseen is the refusal of mustBeSeen.
var errUnseen = errors.New("admission removes the label " + workload.LabelManagedBy + ", without which the operator cannot see the object")

// isStale tells that a write met another state of the cluster than it was decided on. A
// webhook may deny with the same code, which is no reason to try again at once.
func isStale(err error) bool {
	return apierrors.IsAlreadyExists(err) || (apierrors.IsConflict(err) &&
		(strings.Contains(err.Error(), "the object has been modified") || strings.Contains(err.Error(), "Precondition failed") || strings.Contains(err.Error(), "uid mismatch")))
}

// failureOf sorts the error of a write by who has to act, or returns nil for a conflict
// with another writer, after which the operator looks again.
func failureOf(kind string, err error) *workload.Failure {
	failure := &workload.Failure{Reason: workload.FailureTransient, Kind: kind, Message: err.Error()}
	switch {
	case isStale(err):
		return nil
	case errors.Is(err, errUnseen):
		failure.Reason = workload.FailureRefused
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		failure.Reason = workload.FailureNamespaceTerminating
	case apierrors.IsForbidden(err) && missingRight.MatchString(err.Error()):
		failure.Reason = workload.FailureForbidden
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
		failure.Reason = workload.FailureQuota
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		failure.Reason = workload.FailureRefused
	}
	return failure
}
