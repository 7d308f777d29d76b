// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// +kubebuilder:rbac:groups=egplatform.platform.evillgenius.com,resources=egapps,verbs=get;list;watch
// +kubebuilder:rbac:groups=egplatform.platform.evillgenius.com,resources=egapps/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// NewEGAppReconciler returns the loop for EGApps; images are the default images of the
// frameworks.
func NewEGAppReconciler(d Dependencies, images profile.Images) *Reconciler[*v1alpha1.EGApp] {
	return newReconciler(d, "EGApp",
		func() *v1alpha1.EGApp { return &v1alpha1.EGApp{} },
		func(app *v1alpha1.EGApp) (workload.Workload, error) { return translate.EGApp(app, images) })
}
