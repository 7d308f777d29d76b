// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"platformapp/internal/workload"
)

// restore puts back into the patched pods what no patch may change, and gives the containers
// what the Pod Security Standard and the status need where the patch says nothing about it.
func restore(w workload.Workload, generated, patched *corev1ac.PodTemplateSpecApplyConfiguration) {
	patched.WithLabels(generated.Labels).WithAnnotations(generated.Annotations)

	spec := patched.Spec
	spec.ServiceAccountName = generated.Spec.ServiceAccountName
	spec.DeprecatedServiceAccount = generated.Spec.DeprecatedServiceAccount

	main := slices.IndexFunc(spec.Containers, func(c corev1ac.ContainerApplyConfiguration) bool { return *c.Name == w.Container.Name })
	container := spec.Containers[main]
	spec.Containers = slices.Insert(slices.Delete(spec.Containers, main, main+1), 0, container)

	for _, containers := range [][]corev1ac.ContainerApplyConfiguration{spec.InitContainers, spec.Containers} {
		for i := range containers {
			containers[i].SecurityContext = completeSecurityContext(containers[i].SecurityContext, w.Security)
			if isAdded := *containers[i].Name != w.Container.Name; isAdded && containers[i].TerminationMessagePolicy == nil {
				containers[i].WithTerminationMessagePolicy(terminationMessagePolicy)
			}
			for j := range containers[i].Ports {
				if containers[i].Ports[j].Protocol == nil {
					containers[i].Ports[j].WithProtocol("TCP")
				}
			}
		}
	}
	for i := range spec.TopologySpreadConstraints {
		constraint := &spec.TopologySpreadConstraints[i]
		if !selects(constraint.LabelSelector, patched.Labels) {
			constraint.LabelSelector = metav1ac.LabelSelector().WithMatchLabels(w.Owner.Selector())
		}
	}
}

// selects tells whether a selector is given and selects pods with these labels.
func selects(config *metav1ac.LabelSelectorApplyConfiguration, podLabels map[string]string) bool {
	if config == nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(readAs[metav1.LabelSelector](config))
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(podLabels))
}
