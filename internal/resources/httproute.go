// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/internal/workload"
)

// httpRoute exposes the application by a gateway: every path at every host. The lists are
// compared as a whole, so whatever the server would fill in is written out.
func httpRoute(w workload.Workload, o workload.Observed) *Child {
	if !w.IsExposedBy(workload.ExposureHTTPRoute, o) || w.Exposure.Gateway == nil {
		return nil
	}
	spec := gatewayv1.HTTPRouteSpec{
		CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{parentOf(*w.Exposure.Gateway)}},
		Rules:           []gatewayv1.HTTPRouteRule{{BackendRefs: []gatewayv1.HTTPBackendRef{backendOf(w)}}},
	}
	for _, host := range w.Exposure.Hosts {
		spec.Hostnames = append(spec.Hostnames, gatewayv1.Hostname(host))
	}
	for _, path := range w.Exposure.Paths {
		pathType := gatewayv1.PathMatchPathPrefix
		if path.Exact {
			pathType = gatewayv1.PathMatchExact
		}
		spec.Rules[0].Matches = append(spec.Rules[0].Matches, gatewayv1.HTTPRouteMatch{
			Path: &gatewayv1.HTTPPathMatch{Type: &pathType, Value: new(path.Path)},
		})
	}
	return child(w.Owner, schema.GroupVersion(gatewayv1.GroupVersion).WithKind(string(workload.ExposureHTTPRoute)), spec)
}

func parentOf(gateway workload.Gateway) gatewayv1.ParentReference {
	parent := gatewayv1.ParentReference{
		Group:     new(gatewayv1.Group(gatewayv1.GroupName)),
		Kind:      new(gatewayv1.Kind("Gateway")),
		Namespace: new(gatewayv1.Namespace(gateway.Namespace)),
		Name:      gatewayv1.ObjectName(gateway.Name),
	}
	if gateway.SectionName != "" {
		parent.SectionName = new(gatewayv1.SectionName(gateway.SectionName))
	}
	return parent
}

func backendOf(w workload.Workload) gatewayv1.HTTPBackendRef {
	return gatewayv1.HTTPBackendRef{BackendRef: gatewayv1.BackendRef{
		BackendObjectReference: gatewayv1.BackendObjectReference{
			Group: new(gatewayv1.Group(corev1.GroupName)),
			Kind:  new(gatewayv1.Kind(kindService)),
			Name:  gatewayv1.ObjectName(w.Owner.Name),
			Port:  new(w.Exposure.Port.ServicePort),
		},
		Weight: new(int32(1)),
	}}
}
