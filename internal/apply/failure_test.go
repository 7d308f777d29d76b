// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"platformapp/internal/workload"
)

func TestFailuresAreSortedByWhoHasToAct(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	terminating := apierrors.NewForbidden(services, "orders", errors.New("namespace team-a is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	service := schema.GroupKind{Kind: "Service"}
	brokenRule := field.ErrorList{field.Invalid(field.NewPath("spec", "ports").Index(0).Child("port"), 0, "must be between 1 and 65535")}
	// A policy denies by a refusal that has the code and the reason of a broken rule.
	denied := apierrors.NewForbidden(services, "orders", errors.New("ValidatingAdmissionPolicy 'no-node-ports' with binding 'b' denied request: ask for a ClusterIP"))
	denied.ErrStatus.Reason, denied.ErrStatus.Code = metav1.StatusReasonInvalid, http.StatusUnprocessableEntity
	denied.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: denied.ErrStatus.Message}}
	webhook := apierrors.NewInvalid(service, "orders", brokenRule)
	webhook.ErrStatus.Message = `admission webhook "w.example.com" denied the request: ` + webhook.ErrStatus.Message
	webhooksRequest := apierrors.NewBadRequest(`admission webhook "w.example.com" denied the request: no`)
	routes := schema.GroupResource{Group: "gateway.networking.k8s.io", Resource: "httproutes"}
	noPath := apierrors.NewGenericServerResponse(http.StatusNotFound, "patch", routes, "orders", "404 page not found", 0, true)
	older := apierrors.NewGenericServerResponse(http.StatusInternalServerError, "patch", services, "orders",
		"failed to create typed patch object (team-a/orders; apps/v1, Kind=Deployment): .spec.template.spec.x: field not declared in schema", 0, true)
	largerThanStored := apierrors.NewInternalError(errors.New("x"))
	largerThanStored.ErrStatus.Message = "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2101443 vs. 2097152)"
	for name, test := range map[string]struct {
		err  error
		want workload.FailureReason
	}{
		"the API is gone":            {fmt.Errorf("apply: %w", noPath), workload.FailureUnserved},
		"the API was never there":    {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "HTTPRoute"}}, workload.FailureUnserved},
		"the API is on its way out":  {apierrors.NewForbidden(routes, "orders", errors.New("create not allowed while custom resource definition is terminating")), workload.FailureUnserved},
		"the namespace is gone":      {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "team-a"), workload.FailureTransient},
		"the server lacks a field":   {older, workload.FailureInvalid},
		"a right is missing":         {apierrors.NewForbidden(services, "orders", errors.New(`User "system:serviceaccount:a:b" cannot create resource "services" in API group ""`)), workload.FailureForbidden},
		"a quota is used up":         {apierrors.NewForbidden(services, "orders", errors.New("exceeded quota: small, requested: services=1, used: services=1, limited: services=1")), workload.FailureQuota},
		"a policy denies":            {apierrors.NewForbidden(services, "orders", errors.New(`ValidatingAdmissionPolicy "p" denied request: no`)), workload.FailureRefused},
		"the namespace ends":         {terminating, workload.FailureNamespaceTerminating},
		"a rule is broken":           {apierrors.NewInvalid(service, "orders", brokenRule), workload.FailureInvalid},
		"a rule that is not named":   {apierrors.NewInvalid(service, "orders", nil), workload.FailureRefused},
		"a policy denies by 422":     {denied, workload.FailureRefused},
		"a webhook denies by 422":    {webhook, workload.FailureRefused},
		"a webhook denies by 400":    {webhooksRequest, workload.FailureRefused},
		"the request makes no sense": {apierrors.NewBadRequest("no"), workload.FailureInvalid},
		"the object is too large":    {apierrors.NewRequestEntityTooLargeError("3 MB"), workload.FailureInvalid},
		"the store takes no more":    {largerThanStored, workload.FailureInvalid},
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
		"another has the name":      apierrors.NewConflict(services, "orders", errors.New("the UID in the precondition (a) does not match the UID in record (b). The object might have been deleted and then recreated")),
		"the name is taken":         apierrors.NewAlreadyExists(services, "orders"),
	} {
		if got := failureOf("Service", err); got != nil {
			t.Errorf("%s: %+v is told as a failure", name, got)
		}
	}
}
