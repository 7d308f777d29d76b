// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"

	routev1 "github.com/openshift/api/route/v1"
	networkingv1 "k8s.io/api/networking/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/internal/workload"
)

// gatewayNamespaces returns the namespaces of the gateways by which the application is to be
// exposed, or still is, in alphabetical order.
func gatewayNamespaces(w workload.Workload, o workload.Observed) []string {
	var namespaces []string
	if gateway := w.Exposure.Gateway; gateway != nil && w.ChosenExposure(o).Type == workload.ExposureHTTPRoute {
		namespaces = append(namespaces, gateway.Namespace)
	}
	for _, object := range stillServing(w, o) {
		route, ok := object.(*gatewayv1.HTTPRoute)
		if !ok {
			continue
		}
		for _, parent := range route.Spec.ParentRefs {
			if parent.Namespace == nil {
				namespaces = append(namespaces, route.Namespace)
			} else {
				namespaces = append(namespaces, string(*parent.Namespace))
			}
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// exposedPorts returns the port that is to be exposed, and those that still are.
func exposedPorts(w workload.Workload, o workload.Observed) []workload.Port {
	ports := []workload.Port{w.Exposure.Port}
	for _, object := range stillServing(w, o) {
		for _, backend := range backendsOf(object) {
			i := slices.IndexFunc(w.Ports, backend.isOf)
			isOpen := func(open workload.Port) bool {
				return open.ContainerPort == w.Ports[i].ContainerPort && open.Protocol == w.Ports[i].Protocol
			}
			if i >= 0 && !slices.ContainsFunc(ports, isOpen) {
				ports = append(ports, w.Ports[i])
			}
		}
	}
	return ports
}

// stillServing returns the children that expose the application until what is to take their
// place is there.
func stillServing(w workload.Workload, o workload.Observed) []workload.Object {
	var objects []workload.Object
	for _, exposure := range []workload.ExposureType{workload.ExposureIngress, workload.ExposureHTTPRoute, workload.ExposureRoute} {
		kind := string(exposure)
		object := o.Children[kind]
		if object != nil && w.StillServes(kind, o) && w.Owner.OwnershipOf(object) == workload.Ours {
			objects = append(objects, object)
		}
	}
	return objects
}

// backend is a port of the Service, by its name or its number.
type backend struct {
	name   string
	number int32
}

func (b backend) isOf(port workload.Port) bool {
	return b.name != "" && b.name == port.Name || b.number != 0 && b.number == port.ServicePort
}

// backendsOf returns where an object leads to that exposes an application.
func backendsOf(object workload.Object) []backend {
	var backends []backend
	switch object := object.(type) {
	case *networkingv1.Ingress:
		for _, rule := range object.Spec.Rules {
			if rule.HTTP == nil {
				continue
			}
			for _, path := range rule.HTTP.Paths {
				if service := path.Backend.Service; service != nil {
					backends = append(backends, backend{service.Port.Name, service.Port.Number})
				}
			}
		}
	case *gatewayv1.HTTPRoute:
		for _, rule := range object.Spec.Rules {
			for _, ref := range rule.BackendRefs {
				if ref.Port != nil {
					backends = append(backends, backend{number: *ref.Port})
				}
			}
		}
	case *routev1.Route:
		if object.Spec.Port != nil {
			backends = append(backends, backend{name: object.Spec.Port.TargetPort.StrVal})
		}
	}
	return backends
}
