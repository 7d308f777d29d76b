// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"platformapp/internal/workload"
)

// podTemplate returns the pods that run the workload: those that are generated, with the
// patch over them, and what no patch may change put back.
func podTemplate(w workload.Workload, o workload.Observed) *corev1ac.PodTemplateSpecApplyConfiguration {
	template := generatedTemplate(w, o)
	if len(w.PodTemplatePatch) > 0 {
		patched, errs := patchTemplate(w, template)
		if len(errs) > 0 {
			// The patch is read in the same way on every platform, so that CheckPods has found
			// these errors when the workload was made. Pods without the patch would be others
			// than those that were asked for.
			panic(fmt.Sprintf("a pod template patch that was checked is refused: %v", errs.ToAggregate()))
		}
		template = patched
	}
	completeAtomic(template.Spec)
	completePullPolicies(template.Spec)
	return template
}

// generatedTemplate returns the pods without the patch.
func generatedTemplate(w workload.Workload, o workload.Observed) *corev1ac.PodTemplateSpecApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(w.ServiceAccountName != "").
		WithEnableServiceLinks(false).
		WithSecurityContext(podSecurityContext(w, o)).
		WithTerminationGracePeriodSeconds(w.TerminationGracePeriodSeconds).
		WithVolumes(volumes(w)...).
		WithContainers(container(w))
	if w.ServiceAccountName != "" {
		// The server copies the one into the other and back: what is not applied would stay
		// when the name is taken away, and so would the account.
		spec.WithServiceAccountName(w.ServiceAccountName).WithDeprecatedServiceAccount(w.ServiceAccountName)
	}
	for _, secret := range w.ImagePullSecrets {
		spec.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(secret))
	}
	if w.Spread {
		spec.WithTopologySpreadConstraints(
			spreadOver(w.Owner, corev1.LabelTopologyZone),
			spreadOver(w.Owner, corev1.LabelHostname))
	}
	return corev1ac.PodTemplateSpec().
		WithLabels(w.Owner.PodLabels()).
		WithAnnotations(podAnnotations(w, o)).
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

// podAnnotations are those that the operator puts on pods. The hashes are there to change
// with what they are of, which rolls the pods.
func podAnnotations(w workload.Workload, o workload.Observed) map[string]string {
	annotations := map[string]string{workload.AnnotationDefaultContainer: w.Container.Name}
	if hash := configHash(w, o); hash != "" {
		annotations[workload.AnnotationConfigHash] = hash
	}
	if hash := runtimeEnvHash(w); hash != "" {
		annotations[workload.AnnotationRuntimeEnvHash] = hash
	}
	return annotations
}

// configHash returns the hash of the configuration that the pods use. The one that they
// have stays while changes are to be ignored, and while something that they need is away:
// a ConfigMap that is deleted and made again within a moment restarts nothing.
func configHash(w workload.Workload, o workload.Observed) string {
	if len(w.References.ConfigMaps) == 0 {
		return ""
	}
	if deployment := o.Deployment(); deployment != nil {
		present := deployment.Spec.Template.Annotations[workload.AnnotationConfigHash]
		keeps := w.Rollout.IgnoreConfigChanges || len(workload.MissingConfig(w.References.ConfigMaps, o.ConfigMaps)) > 0
		if present != "" && keeps {
			return present
		}
	}
	return workload.ConfigHash(w.References.ConfigMaps, o.ConfigMaps)
}
