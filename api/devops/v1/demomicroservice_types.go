// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
)

// DemoMicroServiceSpec says which image to run.
type DemoMicroServiceSpec struct {
	// Image is the container image to run, with its tag or digest, for example docker.io/stefanprodan/podinfo:0.0.1. One pod runs it, with the image's own command.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]+$')",message="must be an image reference of printable ASCII characters without blanks, and not empty"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Image",order=1
	Image string `json:"image"`
}

// DemoMicroServiceStatus is the state of the service as it was last observed.
type DemoMicroServiceStatus struct {
	appstatus.Status `json:",inline"`
}

// DemoMicroService runs one pod of an image.
//
// +kubebuilder:object:root=true
// +operator-sdk:csv:customresourcedefinitions:displayName="Demo Micro Service",order=2
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=demomicroservices,singular=demomicroservice,shortName=dms
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=".status.readyReplicas",description="How many pods serve"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=".status.phase",description="The state in one word"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason",description="Why it is in this state"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=".spec.image",description="What the pod runs",priority=1
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || (self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",optionalOldSelf=true,message="metadata.name must be a DNS-1035 label of at most 63 characters: lower-case letters, digits or '-', beginning with a letter and ending with a letter or digit"
type DemoMicroService struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what you ask for.
	// +required
	Spec DemoMicroServiceSpec `json:"spec"`

	// Status is what the operator observes. It is written by the operator alone.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status DemoMicroServiceStatus `json:"status,omitempty"`
}

// AppStatus returns the part of the status that all kinds of application share.
func (d *DemoMicroService) AppStatus() *appstatus.Status { return &d.Status.Status }

// AppDetails returns nil: a DemoMicroService is neither exposed nor has it a profile.
func (d *DemoMicroService) AppDetails() *appstatus.Details { return nil }

// DemoMicroServiceList is a list of DemoMicroServices.
//
// +kubebuilder:object:root=true
type DemoMicroServiceList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DemoMicroService `json:"items"`
}
