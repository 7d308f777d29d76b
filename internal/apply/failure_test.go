// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"platformapp/internal/workload"
)

func TestFailuresAreSortedByWhoHasToAct(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	terminating := apierrors.NewForbidden(services, "orders", errors.New("namespace team-a is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, test := range map[string]struct {
		err  error
		want workload.FailureReason
	}{
		"a right is missing":         {apierrors.NewForbidden(services, "orders", errors.New(`User "system:serviceaccount:a:b" cannot create resource "services" in API group ""`)), workload.FailureForbidden},
		"a quota is used up":         {apierrors.NewForbidden(services, "orders", errors.New("exceeded quota: small, requested: services=1, used: services=1, limited: services=1")), workload.FailureQuota},
		"a policy denies":            {apierrors.NewForbidden(services, "orders", errors.New(`ValidatingAdmissionPolicy "p" denied request: no`)), workload.FailureRefused},
		"the namespace ends":         {terminating, workload.FailureNamespaceTerminating},
		"a rule is broken":           {apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "orders", nil), workload.FailureRefused},
		"the request makes no sense": {apierrors.NewBadRequest("no"), workload.FailureRefused},
		"the object is too large":    {apierrors.NewRequestEntityTooLargeError("3 MB"), workload.FailureRefused},
		"the server fails":           {apierrors.NewInternalError(errors.New("etcd is away")), workload.FailureTransient},
		"the server is busy":         {apierrors.NewTooManyRequests("later", 1), workload.FailureTransient},
		"a webhook denies by 409":    {apierrors.NewConflict(services, "orders", errors.New(`admission webhook "w" denied the request`)), workload.FailureTransient},
		"the connection is lost":     {errors.New("connection reset by peer"), workload.FailureTransient},
		"the time is over":           {context.DeadlineExceeded, workload.FailureTransient},
	} {
		t.Run(name, func(t *testing.T) {
			got := failureOf("Service", test.err)
			if got == nil || got.Reason != test.want || got.Kind != "Service" || got.Message != test.err.Error() {
				t.Errorf("the failure is %+v, want %s", got, test.want)
			}
		})
	}
	for name, err := range map[string]error{
		"another writer was faster": apierrors.NewConflict(services, "orders", errors.New("the object has been modified; please apply your changes to the latest version")),
		"the name is taken":         apierrors.NewAlreadyExists(services, "orders"),
	} {
		if got := failureOf("Service", err); got != nil {
			t.Errorf("%s: %+v is told as a failure", name, got)
		}
	}
}
