// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
)

// Framework is the runtime that an application is built on.
// +kubebuilder:validation:Enum=java;python;go
type Framework string

// The frameworks.
const (
	FrameworkJava   Framework = "java"
	FrameworkPython Framework = "python"
	FrameworkGo     Framework = "go"
)

// InstanceType is the size of one pod.
// +kubebuilder:validation:Enum=lowMem;highMem;highCPU;balanced
type InstanceType string

// The instance types.
const (
	InstanceTypeLowMem   InstanceType = "lowMem"
	InstanceTypeHighMem  InstanceType = "highMem"
	InstanceTypeHighCPU  InstanceType = "highCPU"
	InstanceTypeBalanced InstanceType = "balanced"
)

// Environment is the stage of delivery that an application runs in.
// +kubebuilder:validation:Enum=dev;stage;prod
type Environment string

// The environments.
const (
	EnvironmentDev   Environment = "dev"
	EnvironmentStage Environment = "stage"
	EnvironmentProd  Environment = "prod"
)

// EGAppSpec says what the application is, how big, where and how many.
type EGAppSpec struct {
	// AppID is the application's unique id in the company directory. The container is
	// named after it. It has the syntax of a label value: at most 63 letters, digits,
	// '-', '_' or '.', beginning and ending with a letter or digit. Left out, the
	// container has the name of the EGApp.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$')",message="must have the syntax of a label value: letters, digits, '-', '_' or '.', beginning and ending with a letter or digit"
	AppID string `json:"appId,omitempty"`

	// Framework is what the application is built on: java, python or go. It picks the
	// default image, the runtime's environment variables and the timing of the probes.
	// +required
	Framework Framework `json:"framework"`

	// InstanceType is the size of each pod: lowMem, highMem, highCPU or balanced. It
	// picks the requests and limits of cpu and memory. Default: lowMem.
	// +optional
	// +kubebuilder:default=lowMem
	InstanceType InstanceType `json:"instanceType,omitempty"`

	// Environment is where the application runs: dev, stage or prod. It picks how
	// carefully a change is rolled out and how the pods spread over the cluster.
	// +required
	Environment Environment `json:"environment"`

	// ReplicaCount is the number of pods to run; 0 stops the application. kubectl scale
	// sets it as well. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	ReplicaCount *int32 `json:"replicaCount,omitempty"`

	// Image is the container image to run, with its tag or digest, for example
	// registry.example.com/team/app:1.2. Left out, the framework's default image runs.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]+$')",message="must be an image reference of printable ASCII characters without blanks, and not empty"
	Image string `json:"image,omitempty"`
}

// EGAppStatus is the state of the application as it was last observed.
type EGAppStatus struct {
	appstatus.Status `json:",inline"`
}

// EGApp runs an application the platform's way: say what it is built on, how big it is,
// where it runs and how many pods it needs.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicaCount,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:path=egapps,singular=egapp,shortName=ega
// +kubebuilder:printcolumn:name="Framework",type=string,JSONPath=".spec.framework",description="What the application is built on"
// +kubebuilder:printcolumn:name="Environment",type=string,JSONPath=".spec.environment",description="Where it runs"
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=".spec.instanceType",description="How big each pod is"
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=".spec.replicaCount",description="How many pods are asked for"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=".status.readyReplicas",description="How many pods serve"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=".status.phase",description="The state in one word"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason",description="Why it is in this state"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=".status.image",description="What the pods run",priority=1
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || (self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",optionalOldSelf=true,message="metadata.name must be a DNS-1035 label of at most 63 characters: lower-case letters, digits or '-', beginning with a letter and ending with a letter or digit"
type EGApp struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what you ask for.
	// +required
	Spec EGAppSpec `json:"spec"`

	// Status is what the operator observes. It is written by the operator alone.
	// +optional
	Status EGAppStatus `json:"status,omitempty"`
}

// AppStatus returns the part of the status that all kinds of application share.
func (a *EGApp) AppStatus() *appstatus.Status { return &a.Status.Status }

// EGAppList is a list of EGApps.
//
// +kubebuilder:object:root=true
type EGAppList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EGApp `json:"items"`
}
