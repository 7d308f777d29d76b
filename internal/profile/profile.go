// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package profile is the platform's opinion: what a framework, an instance type and an
// environment mean for the pods of an EGApp. presets.go holds it as tables.
package profile

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

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

// Framework is what being built on a runtime means for a container.
type Framework struct {
	// Startup and Readiness are the timing of the probes.
	Startup, Readiness workload.ProbeTiming
	// env makes the runtime's environment variables, which follow the limits.
	env func(limits corev1.ResourceList) []workload.EnvVar
}

// Env returns the environment variables of the runtime for a container with limits.
func (f Framework) Env(limits corev1.ResourceList) []workload.EnvVar { return f.env(limits) }

// Environment is what a stage of delivery means for the pods.
type Environment struct {
	Rollout                       workload.Rollout
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

const mebibyte = 1 << 20

// goEnv sets GOMEMLIMIT to nine tenths of the memory limit, so that the garbage
// collector works harder before the kernel ends the process
// (https://go.dev/doc/gc-guide#Memory_limit).
func goEnv(limits corev1.ResourceList) []workload.EnvVar {
	return []workload.EnvVar{{Name: "GOMEMLIMIT", Value: strconv.FormatInt(limits.Memory().Value()*9/10/mebibyte, 10) + "MiB"}}
}

// javaEnv gives the heap three quarters of the memory limit and ends the process when
// it is used up, so that the pod is restarted rather than half alive
// (https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html).
func javaEnv(corev1.ResourceList) []workload.EnvVar {
	return []workload.EnvVar{{Name: "JAVA_TOOL_OPTIONS", Value: "-XX:MaxRAMPercentage=75.0 -XX:+ExitOnOutOfMemoryError"}}
}

// pythonEnv shows output at once (https://docs.python.org/3/using/cmdline.html#envvar-PYTHONUNBUFFERED)
// and runs one worker for each 256 MiB of the memory limit, from 1 to 8, in the servers
// that read WEB_CONCURRENCY (https://docs.gunicorn.org/en/stable/settings.html#workers).
func pythonEnv(limits corev1.ResourceList) []workload.EnvVar {
	workers := min(max(limits.Memory().Value()/(256*mebibyte), 1), 8)
	return []workload.EnvVar{
		{Name: "PYTHONUNBUFFERED", Value: "1"},
		{Name: "WEB_CONCURRENCY", Value: strconv.FormatInt(workers, 10)},
	}
}
