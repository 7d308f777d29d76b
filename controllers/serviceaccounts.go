// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/workload"
)

// allowedServiceAccounts are the ServiceAccounts, as namespace/name or */name, that EGApps
// may run as without the consent of an annotation on them.
type allowedServiceAccounts []string

func (a allowedServiceAccounts) has(namespace, name string) bool {
	return slices.Contains(a, namespace+"/"+name) || slices.Contains(a, "*/"+name)
}

// check stalls an EGApp that names a ServiceAccount which is not there or does not let
// EGApps run as it. Whoever may create an EGApp need not be one who may use the rights of
// the account.
func (a allowedServiceAccounts) check(_ context.Context, _ *v1alpha1.EGApp, w workload.Workload, observed workload.Observed) (*workload.Stall, error) {
	name, namespace := w.ServiceAccountName, w.Owner.Namespace
	switch {
	case name == "", observed.ServiceAccountExists && (observed.ServiceAccountAllowed || a.has(namespace, name)):
		return nil, nil
	case !observed.ServiceAccountExists:
		return &workload.Stall{Reason: workload.StallServiceAccount, Message: fmt.Sprintf(
			"ServiceAccount %s, which spec.serviceAccountName names, does not exist in namespace %s. The application starts by itself when it does and %s.",
			name, namespace, a.condition(namespace, name))}, nil
	default:
		return &workload.Stall{Reason: workload.StallServiceAccount, Message: fmt.Sprintf(
			"ServiceAccount %[1]s, which spec.serviceAccountName names, does not let EGApps run as it. Whoever may edit that ServiceAccount can allow it: kubectl annotate serviceaccount %[1]s --namespace %[2]s %[3]s=true. The platform can allow it as well, by the operator's flag --allowed-service-accounts.",
			name, namespace, workload.AnnotationAllowEGApps)}, nil
	}
}

// condition says what an account that comes to be must have.
func (a allowedServiceAccounts) condition(namespace, name string) string {
	if a.has(namespace, name) {
		return "the platform allows it already"
	}
	return "has the annotation " + workload.AnnotationAllowEGApps + ": \"true\""
}
