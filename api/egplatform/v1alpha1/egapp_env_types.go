// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// A form fills in each default: that of core/v1's fileKeyRef would add a fileKeyRef to every variable. Hence types of our own.

// EnvVar is an environment variable.
type EnvVar struct {
	// Name of the variable: any printable ASCII characters except '='.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Name",order=901
	Name string `json:"name"`

	// Value of the variable. $(NAME) stands for another variable that is defined before it; $$(NAME) is the text $(NAME).
	// +optional
	// +kubebuilder:validation:MaxLength=131072
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Value",order=902
	Value string `json:"value,omitempty"`

	// ValueFrom is where the value comes from, instead of value. It has exactly one of configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef and fileKeyRef.
	// +optional
	ValueFrom *EnvVarSource `json:"valueFrom,omitempty"`
}

// EnvVarSource is where the value of an environment variable comes from. It has exactly one of its fields.
type EnvVarSource struct {
	// ConfigMapKeyRef is a key of a ConfigMap. A change of it restarts the pods, unless rollout.configChangePolicy is Ignore.
	// +optional
	ConfigMapKeyRef *corev1.ConfigMapKeySelector `json:"configMapKeyRef,omitempty"`

	// SecretKeyRef is a key of a Secret. A change of it does not restart the pods.
	// +optional
	SecretKeyRef *corev1.SecretKeySelector `json:"secretKeyRef,omitempty"`

	// FieldRef is a field of the pod, such as metadata.name or status.podIP.
	// +optional
	FieldRef *corev1.ObjectFieldSelector `json:"fieldRef,omitempty"`

	// ResourceFieldRef is a request or a limit of a container, such as limits.memory.
	// +optional
	ResourceFieldRef *corev1.ResourceFieldSelector `json:"resourceFieldRef,omitempty"`

	// FileKeyRef is a variable in a file of a scratch volume, which an init container of podTemplatePatch writes.
	// +optional
	FileKeyRef *FileKeySelector `json:"fileKeyRef,omitempty"`
}

// FileKeySelector is a variable in a file.
// +structType=atomic
type FileKeySelector struct {
	// VolumeName is the volume with the file.
	// +required
	// +kubebuilder:validation:MaxLength=253
	VolumeName string `json:"volumeName"`

	// Path of the file in the volume, relative and without '..'.
	// +required
	// +kubebuilder:validation:MaxLength=4096
	Path string `json:"path"`

	// Key is the name of the variable in the file.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Key string `json:"key"`

	// Optional lets the container start without the file or the key. Default: false.
	// +optional
	Optional *bool `json:"optional,omitempty"`
}
