// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package workload is the plain model that both kinds of application share: what to
// run (Workload), what was seen of it (Observed), and how its objects are named,
// labelled and recognised. Everything below the translation of an API kind speaks it.
package workload

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Owner is the object that a workload is made for.
type Owner struct {
	// GroupVersionKind of the owner, for the owner references of the children.
	schema.GroupVersionKind
	// Namespace and Name of the owner; its children share both.
	Namespace, Name string
	// UID tells the owner from a predecessor of the same name.
	UID types.UID
	// Generation of the owner's specification.
	Generation int64
	// Labels of the owner; see PropagatedLabels for those that reach the children.
	Labels map[string]string
	// SelectorKey is the label key that selects the owner's pods; its value is Name.
	SelectorKey string
}

// Workload is an application ready to be rendered: every default is resolved and no
// user error is left in it.
type Workload struct {
	Owner Owner

	// Paused leaves the children as they are.
	Paused bool
	// Replicas is the number of pods asked for, 0 or more.
	Replicas int32
	// Container is the container that runs the application.
	Container Container
	// ImagePullSecrets are names of Secrets; none leaves it to the ServiceAccount.
	ImagePullSecrets []string
	// Ports are where the application listens.
	Ports []Port
	// Service is how the ports are reached inside the cluster; nil means not at all.
	Service *Service
	// Files are mounted into the container.
	Files []File
	// ServiceAccountName is what the pods run as; empty is the namespace's default,
	// without a token.
	ServiceAccountName string
	// Autoscaling is nil where nothing but Replicas decides how many pods run.
	Autoscaling *Autoscaling
	// Disruption is how many pods may be missing while nodes are drained; nil means that
	// the application has no PodDisruptionBudget.
	Disruption *intstr.IntOrString
	// Exposure is nil where the application is not reached from outside.
	Exposure *Exposure
	// Monitoring is nil where no metrics are scraped.
	Monitoring *Monitoring
	// NetworkPolicy is nil where everybody may connect.
	NetworkPolicy *NetworkPolicy
	// Rollout is how a change reaches the pods.
	Rollout Rollout
	// Security is the Pod Security Standard that the pods satisfy.
	Security Security
	// Spread asks the scheduler to spread the pods over zones and nodes.
	Spread bool
	// TerminationGracePeriodSeconds is how long a pod may take to end.
	TerminationGracePeriodSeconds int64
	// PodTemplatePatch is a strategic merge patch, in JSON, over the generated pod
	// template; empty means none.
	PodTemplatePatch []byte
	// References are the objects of others that the pods use, the patch's included.
	References References
}

// Container is the application's container.
type Container struct {
	// Name is a DNS label.
	Name string
	// Image is passed on to the letter; see ImageToRun.
	Image string
	// DefaultOf is the framework that Image is the default of; empty where the application
	// names its image.
	DefaultOf string
	// IsDemonstration tells that Image is a default which nobody has chosen: the one that the
	// operator comes with.
	IsDemonstration bool
	// ImagePullPolicy of the image; empty leaves it to the server.
	ImagePullPolicy corev1.PullPolicy
	// Command and Args replace those of the image, if they are given.
	Command, Args []string
	// PresetEnv are the runtime's variables: they give way to those of the same name in
	// Env and EnvFrom.
	PresetEnv []EnvVar
	// Env is set in this order.
	Env []corev1.EnvVar
	// EnvFrom are ConfigMaps and Secrets whose keys are variables.
	EnvFrom []corev1.EnvFromSource
	// Resources are the requests and limits; empty means none.
	Resources corev1.ResourceRequirements
	// PreStopSleepSeconds is how long a pod that ends goes on serving, so that nobody
	// is sent to it any more when it stops; 0 means not at all.
	PreStopSleepSeconds int64
	// Startup, Readiness and Liveness are nil where the application is not probed so.
	Startup, Readiness, Liveness *corev1.Probe
	// ReadOnlyRoot keeps the application from writing anywhere but to its files and /tmp.
	ReadOnlyRoot bool
}

// EnvVar is an environment variable with a value of its own.
type EnvVar struct {
	Name, Value string
}

// Port is a port of the application.
type Port struct {
	// Name is unique among the ports.
	Name string
	// ContainerPort is where the application listens.
	ContainerPort int32
	// ServicePort is where the Service serves it.
	ServicePort int32
	// Protocol of the port.
	Protocol corev1.Protocol
	// AppProtocol tells proxies what is spoken; empty says nothing.
	AppProtocol string
}

// PortNamed returns the port of that name, and whether there is one.
func (w Workload) PortNamed(name string) (Port, bool) {
	for _, port := range w.Ports {
		if port.Name == name {
			return port, true
		}
	}
	return Port{}, false
}

// Service is how the ports are reached inside the cluster.
type Service struct {
	// Type of the Service.
	Type corev1.ServiceType
	// Headless gives the Service no address of its own.
	Headless bool
	// Annotations of the Service.
	Annotations map[string]string
}

// File is a volume that is mounted into the container.
type File struct {
	// MountPath is absolute and unique among the files.
	MountPath string
	// SubPath is the part of the volume to mount; empty means all of it.
	SubPath string
	// ReadOnly keeps the application from writing there.
	ReadOnly bool
	// Source is what is mounted: exactly one of its fields is set.
	Source corev1.VolumeSource
}

// Autoscaling is what a HorizontalPodAutoscaler may do.
type Autoscaling struct {
	MinReplicas, MaxReplicas int32
	// TargetCPU and TargetMemory are percentages of the request of the application's
	// container; nil does not look at it. At least one is set.
	TargetCPU, TargetMemory *int32
}

// Exposure is how the application is reached from outside.
type Exposure struct {
	// Type is Auto, Ingress, HTTPRoute or Route.
	Type ExposureType
	// Settled is, with the type Auto, the kind whose settings are given; empty leaves the
	// choice to what the cluster has.
	Settled ExposureType
	// Hosts may be empty.
	Hosts []string
	// Paths has at least one item.
	Paths []Path
	// Port is what is exposed, one of the workload's.
	Port Port

	// IngressClass and TLSSecret are for an Ingress, and may be empty.
	IngressClass, TLSSecret string
	// IngressAnnotations are for an Ingress.
	IngressAnnotations map[string]string
	// Gateway is what an HTTPRoute attaches to, or nil.
	Gateway *Gateway
	// RouteTermination and RouteInsecurePolicy are for a Route, in the words of its API;
	// an empty termination means no encryption.
	RouteTermination, RouteInsecurePolicy string
}

// ExposureType is the kind of object that exposes an application.
type ExposureType string

// The types of exposure; those but Auto are the kinds of the objects.
const (
	ExposureAuto      ExposureType = "Auto"
	ExposureIngress   ExposureType = "Ingress"
	ExposureHTTPRoute ExposureType = "HTTPRoute"
	ExposureRoute     ExposureType = "Route"
)

// Path is a path that leads to the application.
type Path struct {
	Path string
	// Exact leaves out what is below the path.
	Exact bool
}

// Gateway names a Gateway.
type Gateway struct {
	// Namespace and Name of the Gateway; both are given.
	Namespace, Name string
	// SectionName is its listener; empty means all.
	SectionName string
}

// Monitoring is how metrics are scraped.
type Monitoring struct {
	// Port is the name of one of the workload's ports.
	Port string
	// Path that serves the metrics.
	Path string
	// Interval between two scrapes; empty leaves it to Prometheus.
	Interval string
	// Labels of the ServiceMonitor.
	Labels map[string]string
}

// NetworkPolicy says who may connect.
type NetworkPolicy struct {
	// SameNamespace lets all pods of the namespace connect.
	SameNamespace bool
	// From are the EGApps that may connect.
	From []Peer
	// IngressNamespaces are where what exposes applications runs, MonitoringNamespaces
	// where Prometheus does: what the workload needs of them may connect.
	IngressNamespaces, MonitoringNamespaces []string
}

// Peer names an EGApp.
type Peer struct {
	Namespace, Name string
}

// References are the objects of others that pods use.
type References struct {
	// ConfigMaps that give variables or files, by name in alphabetical order.
	ConfigMaps []ConfigMapReference
	// Claims are names of the PersistentVolumeClaims of the pods, in alphabetical order: also
	// of those that are only read, since their volumes are attached to the node as well.
	Claims []string
	// ServiceAccount that the pods run as, or empty.
	ServiceAccount string
}

// ConfigMapReference is what pods use of a ConfigMap.
type ConfigMapReference struct {
	Name string
	// Keys are those that must be there, in alphabetical order.
	Keys []string
	// OptionalKeys may be missing, in alphabetical order.
	OptionalKeys []string
	// All tells that every key is used, whichever there are.
	All bool
	// Optional tells that the ConfigMap itself may be missing.
	Optional bool
}

// Rollout is how a change reaches the pods.
type Rollout struct {
	// Strategy is RollingUpdate or Recreate; empty chooses by what the claims allow.
	Strategy appsv1.DeploymentStrategyType
	// IgnoreConfigChanges leaves the pods alone when a ConfigMap that they use changes.
	IgnoreConfigChanges bool
	// MaxSurge is how many pods may run beyond Replicas.
	MaxSurge intstr.IntOrString
	// MaxUnavailable is how many pods may be missing from Replicas.
	MaxUnavailable intstr.IntOrString
	// MinReadySeconds is how long a pod must be ready to count as available.
	MinReadySeconds int32
	// ProgressDeadlineSeconds is how long a rollout may stand still.
	ProgressDeadlineSeconds int32
}

// Security is a Pod Security Standard
// (https://kubernetes.io/docs/concepts/security/pod-security-standards/).
type Security string

// The Pod Security Standards that pods are made to satisfy.
const (
	// SecurityRestricted also runs as a user other than root.
	SecurityRestricted Security = "Restricted"
	// SecurityBaseline leaves the user to the image, without a way to more rights.
	SecurityBaseline Security = "Baseline"
)
