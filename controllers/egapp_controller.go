// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// +kubebuilder:rbac:groups=egplatform.platform.evillgenius.com,resources=egapps,verbs=get;list;watch
// +kubebuilder:rbac:groups=egplatform.platform.evillgenius.com,resources=egapps/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// The children, and the pods that they run. An application has a Deployment for as long as it is there: none is deleted.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=configmaps;services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses;networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=route.openshift.io,resources=routes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=servicemonitors,verbs=get;list;watch;create;patch;delete

// OpenShift checks this right when a Route gets a host or another one.
// +kubebuilder:rbac:groups=route.openshift.io,resources=routes/custom-host,verbs=create;update

// What applications refer to. Secrets are not among it: the operator does not read them.
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims;serviceaccounts,verbs=list;watch

// NewEGAppReconciler returns the loop for EGApps.
func NewEGAppReconciler(d Dependencies, options Options) *Reconciler[*v1alpha1.EGApp] {
	return newReconciler(d, "EGApp",
		func() *v1alpha1.EGApp { return &v1alpha1.EGApp{} },
		func(app *v1alpha1.EGApp) (workload.Workload, error) { return translate.EGApp(app, options.Options) },
		options.duplicates(d.Client).check,
		allowedServiceAccounts(options.AllowedServiceAccounts).check)
}
