// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package workload is the plain model that both kinds of application share: what to
// run (Workload), what was seen of it (Observed), and how its objects are named,
// labelled and recognised. Everything below the translation of an API kind speaks it.
package workload

import (
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

	// Replicas is the number of pods asked for, 0 or more.
	Replicas int32
	// Container is the container that runs the application.
	Container Container
	// Ports are where the application listens; none means that it has no Service.
	Ports []Port
	// Rollout is how a change reaches the pods.
	Rollout Rollout
	// Security is the Pod Security Standard that the pods satisfy.
	Security Security
	// Spread asks the scheduler to spread the pods over zones and nodes.
	Spread bool
	// TerminationGracePeriodSeconds is how long a pod may take to end.
	TerminationGracePeriodSeconds int64
}

// Container is the application's container.
type Container struct {
	// Name is a DNS label.
	Name string
	// Image is passed on to the letter.
	Image string
	// ImagePullPolicy of the image; empty leaves it to the server.
	ImagePullPolicy corev1.PullPolicy
	// Env is set in this order.
	Env []EnvVar
	// Resources are the requests and limits; empty means none.
	Resources corev1.ResourceRequirements
	// PreStopSleepSeconds is how long a pod that ends goes on serving, so that nobody
	// is sent to it any more when it stops; 0 means not at all.
	PreStopSleepSeconds int64
	// Probes are nil where the application is not probed.
	Probes *Probes
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
}

// Probes ask the port of the given name whether a connection is accepted.
type Probes struct {
	// Port is the number of the port.
	Port int32
	// Startup holds the readiness probe back until the application has started.
	Startup ProbeTiming
	// Readiness takes the pod out of the Service while it fails.
	Readiness ProbeTiming
}

// ProbeTiming is how often a probe asks and how many failures it stands.
type ProbeTiming struct {
	PeriodSeconds, TimeoutSeconds, FailureThreshold int32
}

// Rollout is how a change reaches the pods.
type Rollout struct {
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
