// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	networkingv1 "k8s.io/api/networking/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"platformapp/internal/workload"
)

// ingress exposes the application by an ingress controller: every path at every host.
func ingress(w workload.Workload, o workload.Observed) *Child {
	if !w.IsExposedBy(workload.ExposureIngress, o) {
		return nil
	}
	spec := networkingv1ac.IngressSpec()
	if w.Exposure.IngressClass != "" {
		spec.WithIngressClassName(w.Exposure.IngressClass)
	}
	if w.Exposure.TLSSecret != "" {
		spec.WithTLS(networkingv1ac.IngressTLS().
			WithHosts(w.Exposure.Hosts...).
			WithSecretName(w.Exposure.TLSSecret))
	}
	for _, host := range w.Exposure.Hosts {
		spec.WithRules(networkingv1ac.IngressRule().WithHost(host).WithHTTP(ingressPaths(w)))
	}
	config := networkingv1ac.Ingress(w.Owner.Name, w.Owner.Namespace).
		WithLabels(w.Owner.ChildLabels()).
		WithOwnerReferences(ownerReference(w.Owner)).
		WithSpec(spec)
	if len(w.Exposure.IngressAnnotations) > 0 {
		config.WithAnnotations(w.Exposure.IngressAnnotations)
	}
	return &Child{Config: config, Meta: config.ObjectMetaApplyConfiguration}
}

// ingressPaths lead to the Service by the port's name: two ports may have one number.
func ingressPaths(w workload.Workload) *networkingv1ac.HTTPIngressRuleValueApplyConfiguration {
	value := networkingv1ac.HTTPIngressRuleValue()
	for _, path := range w.Exposure.Paths {
		pathType := networkingv1.PathTypePrefix
		if path.Exact {
			pathType = networkingv1.PathTypeExact
		}
		value.WithPaths(networkingv1ac.HTTPIngressPath().
			WithPath(path.Path).
			WithPathType(pathType).
			WithBackend(networkingv1ac.IngressBackend().WithService(networkingv1ac.IngressServiceBackend().
				WithName(w.Owner.Name).
				WithPort(networkingv1ac.ServiceBackendPort().WithName(w.Exposure.Port.Name)))))
	}
	return value
}
