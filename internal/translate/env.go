// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	corev1 "k8s.io/api/core/v1"

	"platformapp/api/egplatform/v1alpha1"
)

// variables returns environment variables as the pod has them.
func variables(given []v1alpha1.EnvVar) []corev1.EnvVar {
	var out []corev1.EnvVar
	for _, v := range given {
		out = append(out, corev1.EnvVar{Name: v.Name, Value: v.Value, ValueFrom: valueFrom(v.ValueFrom)})
	}
	return out
}

func valueFrom(given *v1alpha1.EnvVarSource) *corev1.EnvVarSource {
	if given == nil {
		return nil
	}
	return &corev1.EnvVarSource{
		ConfigMapKeyRef: given.ConfigMapKeyRef, SecretKeyRef: given.SecretKeyRef, FieldRef: given.FieldRef,
		ResourceFieldRef: given.ResourceFieldRef, FileKeyRef: (*corev1.FileKeySelector)(given.FileKeyRef),
	}
}
