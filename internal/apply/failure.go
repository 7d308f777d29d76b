// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"platformapp/internal/workload"
)

// missingRight matches the words of the API server's authorizer, which admission
// plugins, whose refusals are Forbidden as well, do not use.
var missingRight = regexp.MustCompile(`User ".*" cannot \w+ resource`)

// failureOf sorts the error of a write by who has to act, or returns nil for a conflict
// with another writer, after which the operator looks again.
func failureOf(kind string, err error) *workload.Failure {
	failure := &workload.Failure{Reason: workload.FailureTransient, Kind: kind, Message: err.Error()}
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return nil
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
