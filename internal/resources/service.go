// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"platformapp/internal/workload"
)

// service makes the ports reachable inside the cluster. A workload without ports has
// none.
func service(w workload.Workload, _ workload.Observed) *Child {
	if len(w.Ports) == 0 {
		return nil
	}
	spec := corev1ac.ServiceSpec().
		WithType(corev1.ServiceTypeClusterIP).
		WithSelector(w.Owner.Selector())
	for _, port := range w.Ports {
		spec.WithPorts(corev1ac.ServicePort().
			WithName(port.Name).
			WithProtocol(port.Protocol).
			WithPort(port.ServicePort).
			WithTargetPort(intstr.FromInt32(port.ContainerPort)))
	}
	config := corev1ac.Service(w.Owner.Name, w.Owner.Namespace).
		WithLabels(w.Owner.ChildLabels()).
		WithOwnerReferences(ownerReference(w.Owner)).
		WithSpec(spec)
	return &Child{Config: config, Meta: config.ObjectMetaApplyConfiguration}
}
