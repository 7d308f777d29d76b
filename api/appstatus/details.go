// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package appstatus

import (
	corev1 "k8s.io/api/core/v1"
)

// Details is what only an application reports that may be exposed and has a profile.
type Details struct {
	// URL is where the application is reached from outside.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="URL",xDescriptors={"urn:alm:descriptor:org.w3:link"}
	URL string `json:"url,omitempty"`

	// Expose tells by what the application is reached from outside, and why by that.
	// +optional
	Expose *Exposure `json:"expose,omitempty"`

	// Resources are the requests and limits of the application's container, after the instance type and what overrides it.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
}

// Exposure is by what an application is reached from outside.
type Exposure struct {
	// Type is the kind of the object: Ingress, HTTPRoute or Route.
	// +optional
	Type string `json:"type,omitempty"`

	// Reason says why it is of that kind.
	// +optional
	Reason string `json:"reason,omitempty"`
}

// Resources are requests and limits.
type Resources struct {
	// Limits are the most that the container may use.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`

	// Requests are what is kept free for the container.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
}
