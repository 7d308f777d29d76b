// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"platformapp/internal/workload"
)

// nonRootUser runs pods that must not run as root. It is a number, since the kubelet
// cannot tell whether a named user is root.
const nonRootUser = 65532

func podTemplate(w workload.Workload) *corev1ac.PodTemplateSpecApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(podSecurityContext(w.Security)).
		WithTerminationGracePeriodSeconds(w.TerminationGracePeriodSeconds).
		WithContainers(container(w))
	if w.Spread {
		spec.WithTopologySpreadConstraints(
			spreadOver(w.Owner, corev1.LabelTopologyZone),
			spreadOver(w.Owner, corev1.LabelHostname))
	}
	return corev1ac.PodTemplateSpec().
		WithLabels(w.Owner.PodLabels()).
		WithAnnotations(map[string]string{workload.AnnotationDefaultContainer: w.Container.Name}).
		WithSpec(spec)
}

// spreadOver asks for as even a spread as the cluster allows; it never keeps a pod
// from running. matchLabelKeys makes each revision spread by itself.
func spreadOver(o workload.Owner, topologyKey string) *corev1ac.TopologySpreadConstraintApplyConfiguration {
	return corev1ac.TopologySpreadConstraint().
		WithMaxSkew(1).
		WithTopologyKey(topologyKey).
		WithWhenUnsatisfiable(corev1.ScheduleAnyway).
		WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(o.Selector())).
		WithMatchLabelKeys("pod-template-hash")
}

func podSecurityContext(security workload.Security) *corev1ac.PodSecurityContextApplyConfiguration {
	context := corev1ac.PodSecurityContext().
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	if security == workload.SecurityRestricted {
		context.WithRunAsNonRoot(true).WithRunAsUser(nonRootUser).WithRunAsGroup(nonRootUser).WithFSGroup(nonRootUser)
	}
	return context
}

func container(w workload.Workload) *corev1ac.ContainerApplyConfiguration {
	c := corev1ac.Container().
		WithName(w.Container.Name).
		WithImage(w.Container.Image).
		WithSecurityContext(containerSecurityContext(w.Security))
	if w.Container.ImagePullPolicy != "" {
		c.WithImagePullPolicy(w.Container.ImagePullPolicy)
	}
	for _, v := range w.Container.Env {
		c.WithEnv(corev1ac.EnvVar().WithName(v.Name).WithValue(v.Value))
	}
	for _, port := range w.Ports {
		c.WithPorts(corev1ac.ContainerPort().
			WithName(port.Name).WithContainerPort(port.ContainerPort).WithProtocol(port.Protocol))
	}
	if r := w.Container.Resources; r.Requests != nil || r.Limits != nil {
		// A rendering shares nothing with the presets or with another one.
		c.WithResources(corev1ac.ResourceRequirements().WithRequests(maps.Clone(r.Requests)).WithLimits(maps.Clone(r.Limits)))
	}
	if p := w.Container.Probes; p != nil {
		c.WithStartupProbe(tcpProbe(p.Port, p.Startup)).WithReadinessProbe(tcpProbe(p.Port, p.Readiness))
	}
	if seconds := w.Container.PreStopSleepSeconds; seconds > 0 {
		c.WithLifecycle(corev1ac.Lifecycle().WithPreStop(corev1ac.LifecycleHandler().
			WithSleep(corev1ac.SleepAction().WithSeconds(seconds))))
	}
	return c
}

func containerSecurityContext(security workload.Security) *corev1ac.SecurityContextApplyConfiguration {
	context := corev1ac.SecurityContext().WithAllowPrivilegeEscalation(false)
	if security == workload.SecurityRestricted {
		context.WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))
	}
	return context
}

func tcpProbe(port int32, timing workload.ProbeTiming) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(port))).
		WithPeriodSeconds(timing.PeriodSeconds).
		WithTimeoutSeconds(timing.TimeoutSeconds).
		WithFailureThreshold(timing.FailureThreshold)
}
