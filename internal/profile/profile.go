// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package profile is the platform's opinion: what a framework, an instance type and an
// environment mean for the pods of an EGApp. presets.go holds it as tables, variables.go
// what the runtimes are told.
package profile

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/workload"
)

// Images are the default images of the frameworks, for EGApps that name none. A
// platform sets its own; a framework that is left out has DefaultImage.
type Images map[v1alpha1.Framework]string

// For returns the default image of a framework.
func (i Images) For(framework v1alpha1.Framework) string {
	if image := i[framework]; image != "" {
		return image
	}
	return DefaultImage
}

// IsDemonstration tells whether nobody has chosen the default image of a framework: it is
// DefaultImage, whatever its tag or digest is.
func (i Images) IsDemonstration(framework v1alpha1.Framework) bool {
	return workload.SameRepository(i.For(framework), DefaultImage)
}

// ProbeTiming is how often a probe asks and how many failures it stands.
type ProbeTiming struct {
	PeriodSeconds, TimeoutSeconds, FailureThreshold int32
}

// Framework is what being built on a runtime means for a container.
type Framework struct {
	// Startup, Readiness and Liveness are the timing of the probes.
	Startup, Readiness, Liveness ProbeTiming
	// ReadOnlyRoot keeps the application from writing anywhere but to its files and /tmp.
	ReadOnlyRoot bool
	// Variables are what the runtime is told.
	Variables []Variable
}

// Env returns the environment variables of the runtime for a container with limits.
func (f Framework) Env(limits corev1.ResourceList) []workload.EnvVar {
	var env []workload.EnvVar
	for _, variable := range f.Variables {
		if value := variable.value(limits); value != "" {
			env = append(env, workload.EnvVar{Name: variable.Name, Value: value})
		}
	}
	return env
}

// Environment is what a stage of delivery means for the pods.
type Environment struct {
	Rollout workload.Rollout
	// Disruption is how many pods may be missing while nodes are drained; nil leaves it to
	// the cluster.
	Disruption                    *intstr.IntOrString
	ImagePullPolicy               corev1.PullPolicy
	Spread                        bool
	TerminationGracePeriodSeconds int64
	PreStopSleepSeconds           int64
}

// size makes the requests and limits of an instance type: the limit of memory is the
// request, since memory cannot be taken back from a pod, and cpu has no limit, since
// what is idle may be used.
func size(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse(cpu),
			corev1.ResourceMemory: resource.MustParse(memory),
		},
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
	}
}
