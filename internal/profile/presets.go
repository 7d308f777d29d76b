// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/workload"
)

// DefaultImage runs when neither the EGApp nor the platform names an image.
const DefaultImage = "gcr.io/kuar-demo/kuard-amd64:1"

// Frameworks maps each framework to what it means. Java may take 5 minutes to start,
// the others 1 minute. An application is restarted only after a minute without an answer:
// it is better slow than gone.
//
// Go binaries carry all that they need, so their root is read-only. Servers of Java and
// Python write beside themselves (unpacked archives, compiled classes and modules, work
// folders): an ordinary image of theirs would not start on a read-only root.
var Frameworks = map[v1alpha1.Framework]Framework{
	v1alpha1.FrameworkJava: {
		Startup:   ProbeTiming{PeriodSeconds: 5, TimeoutSeconds: 3, FailureThreshold: 60},
		Readiness: ProbeTiming{PeriodSeconds: 10, TimeoutSeconds: 3, FailureThreshold: 3},
		Liveness:  ProbeTiming{PeriodSeconds: 10, TimeoutSeconds: 5, FailureThreshold: 6},
		Variables: []Variable{javaToolOptions},
	},
	v1alpha1.FrameworkPython: {
		Startup:   ProbeTiming{PeriodSeconds: 2, TimeoutSeconds: 2, FailureThreshold: 30},
		Readiness: ProbeTiming{PeriodSeconds: 10, TimeoutSeconds: 2, FailureThreshold: 3},
		Liveness:  ProbeTiming{PeriodSeconds: 10, TimeoutSeconds: 5, FailureThreshold: 6},
		Variables: []Variable{pythonUnbuffered, webConcurrency},
	},
	v1alpha1.FrameworkGo: {
		Startup:      ProbeTiming{PeriodSeconds: 1, TimeoutSeconds: 1, FailureThreshold: 60},
		Readiness:    ProbeTiming{PeriodSeconds: 5, TimeoutSeconds: 1, FailureThreshold: 3},
		Liveness:     ProbeTiming{PeriodSeconds: 10, TimeoutSeconds: 3, FailureThreshold: 6},
		ReadOnlyRoot: true,
		Variables:    []Variable{goMemoryLimit},
	},
}

// InstanceTypes maps each instance type to the requests and limits of a pod.
var InstanceTypes = map[v1alpha1.InstanceType]corev1.ResourceRequirements{
	v1alpha1.InstanceTypeLowMem:   size("100m", "256Mi"),
	v1alpha1.InstanceTypeBalanced: size("500m", "1Gi"),
	v1alpha1.InstanceTypeHighCPU:  size("2", "1Gi"),
	v1alpha1.InstanceTypeHighMem:  size("500m", "4Gi"),
}

// Environments maps each environment to how carefully it treats the pods: dev is quick
// and may stand still for a moment, stage and prod never have fewer pods than asked for
// because of a rollout. A share of the pods that may be missing during a drain is rounded
// up, so that a drain always gets on, also with one pod.
var Environments = map[v1alpha1.Environment]Environment{
	v1alpha1.EnvironmentDev: {
		Rollout:                       workload.Rollout{MaxSurge: intstr.FromString("100%"), MaxUnavailable: intstr.FromString("50%"), ProgressDeadlineSeconds: 600},
		ImagePullPolicy:               corev1.PullAlways,
		TerminationGracePeriodSeconds: 10,
	},
	v1alpha1.EnvironmentStage: {
		Rollout:                       workload.Rollout{MaxSurge: intstr.FromString("50%"), MaxUnavailable: intstr.FromInt32(0), ProgressDeadlineSeconds: 600},
		Disruption:                    new(intstr.FromString("50%")),
		ImagePullPolicy:               corev1.PullIfNotPresent,
		Spread:                        true,
		TerminationGracePeriodSeconds: 30,
		PreStopSleepSeconds:           5,
	},
	v1alpha1.EnvironmentProd: {
		Rollout:                       workload.Rollout{MaxSurge: intstr.FromString("25%"), MaxUnavailable: intstr.FromInt32(0), MinReadySeconds: 10, ProgressDeadlineSeconds: 900},
		Disruption:                    new(intstr.FromString("25%")),
		ImagePullPolicy:               corev1.PullIfNotPresent,
		Spread:                        true,
		TerminationGracePeriodSeconds: 60,
		PreStopSleepSeconds:           10,
	},
}
