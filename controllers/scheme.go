// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
)

// AddToScheme adds every type that the operator reads or writes to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		clientgoscheme.AddToScheme, v1alpha1.AddToScheme, devopsv1.AddToScheme, resources.AddOptionalToScheme)
	return builder.AddToScheme(scheme)
}
