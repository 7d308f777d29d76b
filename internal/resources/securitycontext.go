// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"platformapp/internal/workload"
)

const (
	// nonRootUser runs pods that must not run as root. It is a number, since the kubelet
	// cannot tell whether a named user is root.
	nonRootUser = 65532

	// unprivilegedPortStart is the first port that a process may listen at without a
	// capability. It belongs to the pod's own network, so that the kubelet counts it among
	// the safe ones (https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/).
	unprivilegedPortStart = "net.ipv4.ip_unprivileged_port_start"
	firstUnprivilegedPort = 1024
)

// podSecurityContext returns what the workload's Pod Security Standard needs of the pod.
// OpenShift assigns users from a range of the namespace and refuses pods that name another.
// No group is named: a user that the image does not know has the group 0, for which images
// that are made for any user open their files (docs/adr/0012-user-of-the-pods.md).
func podSecurityContext(w workload.Workload, o workload.Observed) *corev1ac.PodSecurityContextApplyConfiguration {
	context := corev1ac.PodSecurityContext().
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	if w.Security == workload.SecurityRestricted {
		context.WithRunAsNonRoot(true)
		if !o.Platform.OpenShift {
			context.WithRunAsUser(nonRootUser).WithFSGroup(nonRootUser).WithFSGroupChangePolicy(corev1.FSGroupChangeOnRootMismatch)
		}
	}
	// Under the baseline standard too, since the image may name a user other than root.
	if slices.ContainsFunc(w.Ports, func(p workload.Port) bool { return p.ContainerPort < firstUnprivilegedPort }) {
		context.WithSysctls(corev1ac.Sysctl().WithName(unprivilegedPortStart).WithValue("0"))
	}
	return context
}

// containerSecurityContext returns what the workload's Pod Security Standard needs of the
// application's container.
func containerSecurityContext(w workload.Workload) *corev1ac.SecurityContextApplyConfiguration {
	context := corev1ac.SecurityContext()
	if w.Container.ReadOnlyRoot {
		context.WithReadOnlyRootFilesystem(true)
	}
	return completeSecurityContext(context, w.Security)
}

// completeSecurityContext adds what a Pod Security Standard needs of a container that says
// nothing about it. What the container says stays, to be judged.
func completeSecurityContext(context *corev1ac.SecurityContextApplyConfiguration, security workload.Security) *corev1ac.SecurityContextApplyConfiguration {
	if context == nil {
		context = corev1ac.SecurityContext()
	}
	if context.AllowPrivilegeEscalation == nil {
		context.WithAllowPrivilegeEscalation(false)
	}
	if security == workload.SecurityRestricted {
		if context.Capabilities == nil {
			context.WithCapabilities(corev1ac.Capabilities())
		}
		if context.Capabilities.Drop == nil {
			context.Capabilities.WithDrop("ALL")
		}
	}
	return context
}
