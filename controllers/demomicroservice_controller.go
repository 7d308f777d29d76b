// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/internal/translate"
)

// +kubebuilder:rbac:groups=devops.my.domain,resources=demomicroservices,verbs=get;list;watch
// +kubebuilder:rbac:groups=devops.my.domain,resources=demomicroservices/status,verbs=patch

// NewDemoMicroServiceReconciler returns the loop for DemoMicroServices.
func NewDemoMicroServiceReconciler(d Dependencies) *Reconciler[*devopsv1.DemoMicroService] {
	return newReconciler(d, "DemoMicroService",
		func() *devopsv1.DemoMicroService { return &devopsv1.DemoMicroService{} },
		translate.DemoMicroService)
}
