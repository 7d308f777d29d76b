// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"platformapp/internal/workload"
)

const kindService = "Service"

// service makes the ports reachable inside the cluster. A worker has none. Without an
// address of its own is said in so many words; with one, the server chooses the address.
func service(w workload.Workload, _ workload.Observed) *Child {
	if w.Service == nil {
		return nil
	}
	spec := corev1ac.ServiceSpec().
		WithType(w.Service.Type).
		WithSelector(w.Owner.Selector())
	if w.Service.Headless {
		spec.WithClusterIP(corev1.ClusterIPNone)
	}
	for _, port := range w.Ports {
		// The number, not the name: a sidecar may have a port of the same name.
		p := corev1ac.ServicePort().
			WithName(port.Name).
			WithProtocol(port.Protocol).
			WithPort(port.ServicePort).
			WithTargetPort(intstr.FromInt32(port.ContainerPort))
		if port.AppProtocol != "" {
			p.WithAppProtocol(port.AppProtocol)
		}
		spec.WithPorts(p)
	}
	config := corev1ac.Service(w.Owner.Name, w.Owner.Namespace).
		WithLabels(w.Owner.ChildLabels()).
		WithOwnerReferences(ownerReference(w.Owner)).
		WithSpec(spec)
	if len(w.Service.Annotations) > 0 {
		config.WithAnnotations(w.Service.Annotations)
	}
	return &Child{Config: config, Meta: config.ObjectMetaApplyConfiguration}
}
