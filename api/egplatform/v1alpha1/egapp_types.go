// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

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

// SecurityProfile is a Pod Security Standard that the pods of an application satisfy.
// +kubebuilder:validation:Enum=Restricted;Baseline
type SecurityProfile string

// The security profiles.
const (
	SecurityProfileRestricted SecurityProfile = "Restricted"
	SecurityProfileBaseline   SecurityProfile = "Baseline"
)

// EGAppSpec says what the application is, how big, where and how many.
type EGAppSpec struct {
	// Framework is what the application is built on: java, python or go. It picks the default image, the runtime's environment variables and the timing of the probes.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Framework",order=1
	Framework Framework `json:"framework"`

	// Environment is where the application runs: dev, stage or prod. It picks how carefully a change is rolled out, how the pods spread over the cluster and how many of them may be missing.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Environment",order=2
	Environment Environment `json:"environment"`

	// InstanceType is the size of each pod: lowMem, highMem, highCPU or balanced. It picks the requests and limits of cpu and memory. Default: lowMem.
	// +optional
	// +kubebuilder:default=lowMem
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Instance Type",order=3
	InstanceType InstanceType `json:"instanceType,omitempty"`

	// ReplicaCount is the number of pods to run; 0 stops the application. kubectl scale sets it as well. While an autoscaler is at work, it decides how many run. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Replica Count",order=4,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:podCount"}
	ReplicaCount *int32 `json:"replicaCount,omitempty"`

	// AppID is the application's unique id in the company directory. The container is named after it. It has the syntax of a label value: at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit. Left out, the container has the name of the EGApp.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$')",message="must have the syntax of a label value: letters, digits, '-', '_' or '.', beginning and ending with a letter or digit"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Application ID",order=5
	AppID string `json:"appId,omitempty"`

	// Image is the container image to run, with its tag or digest, for example registry.example.com/team/app:1.2. Left out or empty, the framework's default image runs.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]*$')",message="must be an image reference of printable ASCII characters without blanks"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Image",order=6
	Image string `json:"image,omitempty"`

	// Ports are where the application listens and where its Service serves them. Left out, there is one: http, which listens at 8080 and is served at 80.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, (has(q.servicePort) ? q.servicePort : q.containerPort) == (has(p.servicePort) ? p.servicePort : p.containerPort) && (has(q.protocol) ? q.protocol : 'TCP') == (has(p.protocol) ? p.protocol : 'TCP')))",message="no two ports may have the same servicePort and protocol; a servicePort that is left out is the containerPort"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Ports",order=7
	Ports []Port `json:"ports,omitempty"`

	// Expose makes the application reachable from outside the cluster. Left out, it is reachable inside only.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Expose",order=8
	Expose *Expose `json:"expose,omitempty"`

	// Env are environment variables of the application, in this order. A variable of the runtime's preset gives way to one of the same name. A value is a string: in YAML, quote numbers and booleans.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:XValidation:rule="!has(self.valueFrom) || !has(self.value) || self.value == ''",message="value and valueFrom must not both be given"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Environment Variables",order=9
	Env []EnvVar `json:"env,omitempty"`

	// EnvFrom are ConfigMaps and Secrets of which every key is an environment variable. Of two with the same key the later one wins; env wins over both.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Environment From",order=10,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// Resources override single requests and limits of the instance type. A limit below the request of the instance type lowers that request, a request above its limit raises that limit. A limit of 0 is no limit.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Resources",order=11,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:resourceRequirements","urn:alm:descriptor:com.tectonic.ui:advanced"}
	Resources *Resources `json:"resources,omitempty"`

	// Autoscaling lets a HorizontalPodAutoscaler choose the number of pods. With replicaCount 0 the application stays stopped.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Autoscaling",order=12
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// Probes tell whether the application has started, serves and lives. Left out, the port named http, or else the first TCP port, is asked whether it accepts connections, with the framework's timing.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Probes",order=13,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Probes *Probes `json:"probes,omitempty"`

	// Service is how the application is reached inside the cluster. Left out, it has a Service with an address of its own.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Service",order=14,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Service *Service `json:"service,omitempty"`

	// Files mounts ConfigMaps, Secrets, claims and scratch space into the application's container.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=64
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Files",order=15,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Files []File `json:"files,omitempty"`

	// Command replaces the image's entrypoint.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=131072
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Command",order=16,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Command []string `json:"command,omitempty"`

	// Args replace the arguments of the image's entrypoint.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=131072
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Arguments",order=17,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Args []string `json:"args,omitempty"`

	// ImagePullPolicy is when the image is pulled: Always, IfNotPresent or Never. Left out, the environment decides.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Image Pull Policy",order=18,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// ImagePullSecrets are Secrets of this namespace that images are pulled with. Left out, those of the ServiceAccount are used.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Image Pull Secrets",order=19,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// ServiceAccountName is the ServiceAccount that the pods run as. It must carry the annotation platform.evillgenius.com/allow-egapps: "true", or be allowed by the platform. Left out, the pods run as default and have no token of the API server.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Service Account",order=20,xDescriptors={"urn:alm:descriptor:io.kubernetes:ServiceAccount","urn:alm:descriptor:com.tectonic.ui:advanced"}
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// SecurityProfile is the Pod Security Standard that the pods satisfy: Restricted or Baseline. Default: Restricted.
	// +optional
	// +kubebuilder:default=Restricted
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Security Profile",order=21,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	SecurityProfile SecurityProfile `json:"securityProfile,omitempty"`

	// NetworkPolicy says who may connect to the application. Left out, it makes no NetworkPolicy. What expose and monitoring need stays open.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Network Policy",order=22,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// Monitoring lets the Prometheus operator scrape metrics, if the cluster has its ServiceMonitor API.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Monitoring",order=23,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Monitoring *Monitoring `json:"monitoring,omitempty"`

	// Rollout is how a change reaches the pods. Left out, the environment decides.
	// +optional
	// +kubebuilder:default={}
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Rollout",order=24,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Rollout *Rollout `json:"rollout,omitempty"`

	// Paused leaves everything as it is while it is true; the status still tells. Default: false.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Paused",order=25,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:checkbox","urn:alm:descriptor:com.tectonic.ui:advanced"}
	Paused bool `json:"paused,omitempty"`

	// PodTemplatePatch is a strategic merge patch over the generated pod template, for what no field is for: sidecars, init containers, affinity, tolerations. The application's container is addressed as main. It gives no rights: names, labels and the security profile stay as they are.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Pod Template Patch",order=26,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	PodTemplatePatch *runtime.RawExtension `json:"podTemplatePatch,omitempty"`
}

// EGAppStatus is the state of the application as it was last observed.
type EGAppStatus struct {
	appstatus.Status  `json:",inline"`
	appstatus.Details `json:",inline"`
}

// EGApp runs an application the platform's way: say what it is built on, how big it is, where it runs and how many pods it needs.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicaCount,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:path=egapps,singular=egapp,shortName=ega
// +kubebuilder:printcolumn:name="Framework",type=string,JSONPath=".spec.framework",description="What the application is built on"
// +kubebuilder:printcolumn:name="Environment",type=string,JSONPath=".spec.environment",description="Where it runs"
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=".spec.instanceType",description="How big each pod is"
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=".status.desiredReplicas",description="How many pods are asked for, by replicaCount or by an autoscaler"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=".status.readyReplicas",description="How many pods serve"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=".status.phase",description="The state in one word"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason",description="Why it is in this state"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=".status.image",description="What the pods run",priority=1
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=".status.url",description="Where it is reached from outside",priority=1
// +operator-sdk:csv:customresourcedefinitions:displayName="EG Application",order=1
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
	// +kubebuilder:default:={"observedGeneration":-1}
	Status EGAppStatus `json:"status,omitempty"`
}

// AppStatus returns the part of the status that all kinds of application share.
func (a *EGApp) AppStatus() *appstatus.Status { return &a.Status.Status }

// AppDetails returns the part of the status that only some kinds of application have.
func (a *EGApp) AppDetails() *appstatus.Details { return &a.Status.Details }

// EGAppList is a list of EGApps.
//
// +kubebuilder:object:root=true
type EGAppList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EGApp `json:"items"`
}
