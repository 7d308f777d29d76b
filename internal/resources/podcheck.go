// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"platformapp/internal/workload"
)

// CheckPods renders the pods of a workload for a plain cluster and returns what they refer
// to, and every rule that the workload's patch or the final pods break.
//
// The pods may have what the application's author could give to pods of the default
// ServiceAccount within the workload's Pod Security Standard: its token too, which pods have
// unless they are told otherwise.
func CheckPods(w workload.Workload) (workload.References, field.ErrorList) {
	errs := checkProbes(w.Container)
	if len(w.PodTemplatePatch) == 0 || len(errs) > 0 {
		// What is generated satisfies the standard, whatever the fields of the application say.
		use := generatedUse(w)
		return referencesOf(w, use), append(errs, checkEnvFiles(w, use.Containers, generatedVolumes(w))...)
	}
	patched, errs := patchTemplate(w, generatedTemplate(w, workload.Observed{}))
	if len(errs) > 0 {
		return workload.References{}, errs
	}
	template := *readAs[corev1.PodTemplateSpec](patched)
	containers := slices.Concat(template.Spec.InitContainers, template.Spec.Containers)
	errs = slices.Concat(checkMounts(template.Spec), checkEnvFiles(w, containers, template.Spec.Volumes),
		checkPortNames(template.Spec), checkHandlers(template.Spec))
	if len(errs) == 0 {
		errs = checkSecurity(w.Security, template)
	}
	return referencesOf(w, template.Spec), errs
}

// generatedVolumes returns the volumes of the generated pods, or none where no variable is from a file of one.
func generatedVolumes(w workload.Workload) []corev1.Volume {
	fromFile := func(v corev1.EnvVar) bool { return v.ValueFrom != nil && v.ValueFrom.FileKeyRef != nil }
	if !slices.ContainsFunc(w.Container.Env, fromFile) {
		return nil
	}
	return *readAs[[]corev1.Volume](volumes(w))
}

// checkProbes refuses probes of another host than the pod, by which the kubelet, which is in
// the network of the node, would be made to knock at any door.
func checkProbes(c workload.Container) field.ErrorList {
	var errs field.ErrorList
	for _, probe := range []struct {
		name  string
		probe *corev1.Probe
	}{{"startup", c.Startup}, {"readiness", c.Readiness}, {"liveness", c.Liveness}} {
		path := field.NewPath("spec", "probes", probe.name)
		const why = "the kubelet asks the pod itself"
		if probe.probe == nil {
			continue
		}
		if get := probe.probe.HTTPGet; get != nil && get.Host != "" {
			errs = append(errs, field.Forbidden(path.Child("httpGet", "host"), why+"; a header Host is given by httpHeaders"))
		}
		if socket := probe.probe.TCPSocket; socket != nil && socket.Host != "" {
			errs = append(errs, field.Forbidden(path.Child("tcpSocket", "host"), why))
		}
	}
	return errs
}

// checkMounts refuses mounts of volumes that the pod does not have.
func checkMounts(pod corev1.PodSpec) field.ErrorList {
	names := map[string]bool{}
	for _, volume := range pod.Volumes {
		names[volume.Name] = true
	}
	var errs field.ErrorList
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, mount := range c.VolumeMounts {
			if !names[mount.Name] {
				errs = append(errs, field.Invalid(patchPath.Child("spec", "volumes"), mount.Name, fmt.Sprintf(
					"the container %s mounts this volume at %s, but the pods have none of this name", c.Name, mount.MountPath)))
			}
		}
	}
	return errs
}

// checkPortNames refuses two ports of one name in one container.
func checkPortNames(pod corev1.PodSpec) field.ErrorList {
	var errs field.ErrorList
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		seen := map[string]bool{}
		for _, port := range c.Ports {
			if port.Name != "" && seen[port.Name] {
				errs = append(errs, field.Invalid(patchPath, port.Name, fmt.Sprintf("two ports of the container %s would have this name", c.Name)))
			}
			seen[port.Name] = true
		}
	}
	return errs
}

// podSecurityVersion is the version of the Pod Security Standards that pods are judged by.
// It is the newest that demands more than the one before, and it stays: were it to move with
// the library, an upgrade of the operator could refuse what runs. Later versions only allow
// more.
var podSecurityVersion = api.MajorMinorVersion(1, 34)

var podSecurity = sync.OnceValues(func() (policy.Evaluator, error) {
	return policy.NewEvaluator(policy.DefaultChecks(), nil)
})

// checkSecurity judges the final pods as the API server would in a namespace that enforces
// the standard.
func checkSecurity(security workload.Security, template corev1.PodTemplateSpec) field.ErrorList {
	evaluator, err := podSecurity()
	if err != nil {
		return field.ErrorList{field.InternalError(patchPath, err)}
	}
	level := api.LevelRestricted
	if security == workload.SecurityBaseline {
		level = api.LevelBaseline
	}
	verdict := policy.AggregateCheckResults(evaluator.EvaluatePod(
		api.LevelVersion{Level: level, Version: podSecurityVersion}, &template.ObjectMeta, &template.Spec))
	if verdict.Allowed {
		return nil
	}
	return field.ErrorList{field.Forbidden(patchPath, fmt.Sprintf(
		"the pods would break the Pod Security Standard that spec.securityProfile %s asks for: %s", security, verdict.ForbiddenDetail()))}
}
