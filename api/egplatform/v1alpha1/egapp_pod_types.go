// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Resources are requests and limits of the application's container.
type Resources struct {
	// Limits are the most that the container may use.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Limits corev1.ResourceList `json:"limits,omitempty"`

	// Requests are what is kept free for the container.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// Probes tell whether the application has started, serves and lives.
type Probes struct {
	// Path to ask by HTTP. With it the application is asked there whether it has started, serves and lives. A probe below that names no way to ask asks there too.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="must begin with '/'"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="HTTP Path",order=1301
	Path string `json:"path,omitempty"`

	// Port is the name of the port to ask. Left out, it is the port named http, or else the first TCP port.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Port Name",order=1302
	Port string `json:"port,omitempty"`

	// Liveness restarts the container when it fails. What it leaves out is the framework's.
	// +optional
	Liveness *Probe `json:"liveness,omitempty"`

	// Readiness takes the pod out of the Service while it fails. What it leaves out is the framework's.
	// +optional
	Readiness *Probe `json:"readiness,omitempty"`

	// Startup holds the other probes back until it succeeds. What it leaves out is the framework's.
	// +optional
	Startup *Probe `json:"startup,omitempty"`
}

// Probe is one probe. What it leaves out is the preset's, also when that is not zero.
type Probe struct {
	ProbeHandler `json:",inline"`

	// InitialDelaySeconds is how long after the start of the container the first probe is made.
	// +optional
	// +kubebuilder:validation:Minimum=0
	InitialDelaySeconds *int32 `json:"initialDelaySeconds,omitempty"`

	// TimeoutSeconds is how long an answer may take, at least 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// PeriodSeconds is the time between two probes, at least 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	PeriodSeconds *int32 `json:"periodSeconds,omitempty"`

	// SuccessThreshold is how many probes must succeed in a row after one that failed; for liveness and startup it is 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	SuccessThreshold *int32 `json:"successThreshold,omitempty"`

	// FailureThreshold is how many probes must fail in a row, at least 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FailureThreshold *int32 `json:"failureThreshold,omitempty"`

	// TerminationGracePeriodSeconds is how long the container may take to end after this probe has failed; not for readiness.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// ProbeHandler is how a probe asks: by at most one of its fields, all as in core/v1. A form hides two of them, whose required port may be a number or a name, for which it has no place; path and port of Probes say it there.
type ProbeHandler struct {
	// Exec runs a command in the container, which succeeds by ending with 0.
	// +optional
	Exec *ExecAction `json:"exec,omitempty"`

	// HTTPGet asks by HTTP; every answer from 200 to 399 is a success. Its port is a number, or the name of a port.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="HTTP Get",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	HTTPGet *HTTPGetAction `json:"httpGet,omitempty"`

	// TCPSocket opens a connection. Its port is a number, or the name of a port.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="TCP Socket",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	TCPSocket *TCPSocketAction `json:"tcpSocket,omitempty"`

	// GRPC calls the gRPC health service.
	// +optional
	GRPC *corev1.GRPCAction `json:"grpc,omitempty"`
}

// ExecAction runs a command in the container. It is that of core/v1, with bounds.
type ExecAction struct {
	// Command and its arguments, which no shell reads.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=131072
	Command []string `json:"command,omitempty"`
}

// HTTPGetAction asks by HTTP. It is that of core/v1, with bounds.
type HTTPGetAction struct {
	// Path to ask. Default: /.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Path string `json:"path,omitempty"`

	// Port to ask, by its number or its name.
	// +required
	// +kubebuilder:validation:XValidation:rule="type(self) != int || (self >= 1 && self <= 65535)",message="must be a port from 1 to 65535, or the name of one"
	Port intstr.IntOrString `json:"port"`

	// Host to connect to. Left out, it is the pod. For the header Host, use httpHeaders.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Host string `json:"host,omitempty"`

	// Scheme is HTTP or HTTPS. Default: HTTP.
	// +optional
	Scheme corev1.URIScheme `json:"scheme,omitempty"`

	// HTTPHeaders of the request.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	HTTPHeaders []corev1.HTTPHeader `json:"httpHeaders,omitempty"`

	// Protocol of the connection, if the cluster supports the choice. Left out, it is HTTP/1.1.
	// +optional
	Protocol *corev1.HTTPProtocol `json:"protocol,omitempty"`
}

// TCPSocketAction opens a connection. It is that of core/v1, with bounds.
type TCPSocketAction struct {
	// Port to connect to, by its number or its name.
	// +required
	// +kubebuilder:validation:XValidation:rule="type(self) != int || (self >= 1 && self <= 65535)",message="must be a port from 1 to 65535, or the name of one"
	Port intstr.IntOrString `json:"port"`

	// Host to connect to. Left out, it is the pod.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Host string `json:"host,omitempty"`
}

// Autoscaling lets a HorizontalPodAutoscaler choose the number of pods by what the application's own container uses.
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas must not be greater than maxReplicas"
type Autoscaling struct {
	// MinReplicas is the least number of pods, at least 1. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Minimum Replicas",order=1201
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// MaxReplicas is the greatest number of pods.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Maximum Replicas",order=1202
	MaxReplicas int32 `json:"maxReplicas"`

	// TargetCPUUtilizationPercentage is the share of the requested cpu to aim at, in percent, at least 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Target CPU Utilization (%)",order=1203
	TargetCPUUtilizationPercentage *int32 `json:"targetCPUUtilizationPercentage,omitempty"`

	// TargetMemoryUtilizationPercentage is the share of the requested memory to aim at, in percent, at least 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Target Memory Utilization (%)",order=1204
	TargetMemoryUtilizationPercentage *int32 `json:"targetMemoryUtilizationPercentage,omitempty"`
}

// File is mounted into the application's container. It has exactly one of configMap, secret, persistentVolumeClaim and emptyDir.
type File struct {
	// MountPath is where it is mounted: an absolute path without ':'.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/') && !self.contains(':')",message="must be an absolute path without ':'"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Mount Path",order=1501
	MountPath string `json:"mountPath"`

	// SubPath is the file or folder of the volume to mount, instead of all of it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Sub-Path",order=1502
	SubPath string `json:"subPath,omitempty"`

	// ReadOnly keeps the application from writing there. Default: false.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Read-Only",order=1503
	ReadOnly bool `json:"readOnly,omitempty"`

	// ConfigMap whose keys are files.
	// +optional
	ConfigMap *ConfigMapFiles `json:"configMap,omitempty"`

	// Secret whose keys are files. A change of a Secret does not restart pods.
	// +optional
	Secret *SecretFiles `json:"secret,omitempty"`

	// PersistentVolumeClaim that exists already.
	// +optional
	PersistentVolumeClaim *ClaimFiles `json:"persistentVolumeClaim,omitempty"`

	// EmptyDir is scratch space that ends with the pod.
	// +optional
	EmptyDir *EmptyDirFiles `json:"emptyDir,omitempty"`
}

// ConfigMapFiles are the keys of a ConfigMap as files.
type ConfigMapFiles struct {
	// Name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Items are the keys to mount and the paths they get. Left out, every key is a file of its name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Items []corev1.KeyToPath `json:"items,omitempty"`

	// Optional lets the pods start without the ConfigMap or the keys. Default: false.
	// +optional
	Optional bool `json:"optional,omitempty"`

	// DefaultMode holds the permission bits of the files, from 0 to 511. Default: 420, which is 0644.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=511
	DefaultMode *int32 `json:"defaultMode,omitempty"`
}

// SecretFiles are the keys of a Secret as files.
type SecretFiles struct {
	// SecretName is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`

	// Items are the keys to mount and the paths they get. Left out, every key is a file of its name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Items []corev1.KeyToPath `json:"items,omitempty"`

	// Optional lets the pods start without the Secret or the keys. Default: false.
	// +optional
	Optional bool `json:"optional,omitempty"`

	// DefaultMode holds the permission bits of the files, from 0 to 511. Default: 420, which is 0644.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=511
	DefaultMode *int32 `json:"defaultMode,omitempty"`
}

// ClaimFiles are the files of a PersistentVolumeClaim.
type ClaimFiles struct {
	// ClaimName is the name of the PersistentVolumeClaim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName"`
}

// EmptyDirMedium is where scratch space is.
// +kubebuilder:validation:Enum=Disk;Memory
type EmptyDirMedium string

// The media of scratch space. A form can't send an empty object: whoever fills it in names the disk.
const (
	EmptyDirMediumDisk   EmptyDirMedium = "Disk"
	EmptyDirMediumMemory EmptyDirMedium = "Memory"
)

// EmptyDirFiles is scratch space.
type EmptyDirFiles struct {
	// Medium is where the space is: Disk, the node's disk, or Memory, which counts towards the memory limit of what writes there. Default: Disk.
	// +optional
	Medium EmptyDirMedium `json:"medium,omitempty"`

	// SizeLimit is the most that may be used, for example 64Mi.
	// +optional
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
}

// RolloutStrategy is how pods are replaced.
// +kubebuilder:validation:Enum=RollingUpdate;Recreate
type RolloutStrategy string

// The strategies of a rollout.
const (
	// RolloutStrategyRollingUpdate starts new pods before the old ones end.
	RolloutStrategyRollingUpdate RolloutStrategy = "RollingUpdate"
	// RolloutStrategyRecreate ends all old pods before new ones start.
	RolloutStrategyRecreate RolloutStrategy = "Recreate"
)

// ConfigChangePolicy is what a change of a ConfigMap that the application uses does.
// +kubebuilder:validation:Enum=Restart;Ignore
type ConfigChangePolicy string

// The policies for a change of configuration.
const (
	ConfigChangePolicyRestart ConfigChangePolicy = "Restart"
	ConfigChangePolicyIgnore  ConfigChangePolicy = "Ignore"
)

// Rollout is how a change reaches the pods.
type Rollout struct {
	// Strategy is RollingUpdate, which starts new pods before the old ones end, or Recreate, which ends the old ones first. Left out, it is RollingUpdate, or Recreate if the application mounts a claim that only one node may use.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Strategy",order=2401
	Strategy RolloutStrategy `json:"strategy,omitempty"`

	// ProgressDeadlineSeconds is how long a rollout may stand still before it is reported, at least 1. It must be more than the time that a pod must be ready to count. Left out, the environment decides.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Progress Deadline (Seconds)",order=2402
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// ConfigChangePolicy is what happens when a key of a ConfigMap that the application uses changes: Restart, which rolls the pods, or Ignore. A Secret never restarts them. Default: Restart.
	// +optional
	// +kubebuilder:default=Restart
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="On Configuration Change",order=2403
	ConfigChangePolicy ConfigChangePolicy `json:"configChangePolicy,omitempty"`
}
