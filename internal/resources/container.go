// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"platformapp/internal/workload"
)

// terminationMessagePolicy lets a pod tell the end of the log of a container that failed: most
// programs, and container runtimes, say why there alone, and the status passes it on.
const terminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError

// container runs the application.
func container(w workload.Workload) *corev1ac.ContainerApplyConfiguration {
	c := corev1ac.Container().
		WithName(w.Container.Name).
		WithImage(w.Container.Image).
		WithCommand(w.Container.Command...).
		WithArgs(w.Container.Args...).
		WithEnvFrom(envFrom(w)...).
		WithEnv(env(w.Container)...).
		WithPorts(containerPorts(w.Ports)...).
		WithVolumeMounts(volumeMounts(w)...).
		WithSecurityContext(containerSecurityContext(w)).
		WithTerminationMessagePolicy(terminationMessagePolicy)
	if w.Container.ImagePullPolicy != "" {
		c.WithImagePullPolicy(w.Container.ImagePullPolicy)
	}
	if r := w.Container.Resources; r.Requests != nil || r.Limits != nil {
		// A rendering shares nothing with the presets or with another one.
		c.WithResources(corev1ac.ResourceRequirements().WithRequests(maps.Clone(r.Requests)).WithLimits(maps.Clone(r.Limits)))
	}
	c.StartupProbe = probe(w.Container.Startup)
	c.ReadinessProbe = probe(w.Container.Readiness)
	c.LivenessProbe = probe(w.Container.Liveness)
	if seconds := w.Container.PreStopSleepSeconds; seconds > 0 {
		c.WithLifecycle(corev1ac.Lifecycle().WithPreStop(corev1ac.LifecycleHandler().
			WithSleep(corev1ac.SleepAction().WithSeconds(seconds))))
	}
	return c
}

// env returns the variables that are set one by one: those of the preset come first, so
// that the user's may refer to them. Beside envFrom they stand in a ConfigMap instead, see
// runtimeEnv.
func env(c workload.Container) []*corev1ac.EnvVarApplyConfiguration {
	var variables []*corev1ac.EnvVarApplyConfiguration
	if len(c.EnvFrom) == 0 {
		for _, v := range presetEnv(c) {
			variables = append(variables, corev1ac.EnvVar().WithName(v.Name).WithValue(v.Value))
		}
	}
	for _, v := range c.Env {
		variable := corev1ac.EnvVar().WithName(v.Name)
		if v.ValueFrom != nil {
			variable.WithValueFrom(readAs[corev1ac.EnvVarSourceApplyConfiguration](v.ValueFrom))
		} else if v.Value != "" {
			variable.WithValue(v.Value)
		}
		variables = append(variables, variable)
	}
	return variables
}

// presetEnv returns the variables of the preset that the user's do not replace.
func presetEnv(c workload.Container) []workload.EnvVar {
	var variables []workload.EnvVar
	for _, v := range c.PresetEnv {
		if !slices.ContainsFunc(c.Env, func(user corev1.EnvVar) bool { return user.Name == v.Name }) {
			variables = append(variables, v)
		}
	}
	return variables
}

// envFrom returns the ConfigMaps and Secrets whose keys are variables. Of two with the same
// key the later one wins: that of the preset's variables comes first.
func envFrom(w workload.Workload) []*corev1ac.EnvFromSourceApplyConfiguration {
	var sources []*corev1ac.EnvFromSourceApplyConfiguration
	if len(runtimeEnvData(w)) > 0 {
		sources = append(sources, corev1ac.EnvFromSource().
			WithConfigMapRef(corev1ac.ConfigMapEnvSource().WithName(runtimeEnvName(w.Owner))))
	}
	for _, source := range w.Container.EnvFrom {
		sources = append(sources, readAs[corev1ac.EnvFromSourceApplyConfiguration](source))
	}
	return sources
}

// containerPorts lists each number and protocol once, under its first name: the server
// refuses a second one. The Service refers to them by number.
func containerPorts(ports []workload.Port) []*corev1ac.ContainerPortApplyConfiguration {
	type key struct {
		number   int32
		protocol corev1.Protocol
	}
	seen := map[key]bool{}
	var listed []*corev1ac.ContainerPortApplyConfiguration
	for _, port := range ports {
		if k := (key{port.ContainerPort, port.Protocol}); !seen[k] {
			seen[k] = true
			listed = append(listed, corev1ac.ContainerPort().
				WithName(port.Name).WithContainerPort(port.ContainerPort).WithProtocol(port.Protocol))
		}
	}
	return listed
}
