// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strings"

	routev1 "github.com/openshift/api/route/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"platformapp/internal/workload"
)

// wildcardHost stands for every name of a domain in a Route, which wants a name there.
const wildcardHost = "wildcard."

// route exposes the application by an OpenShift router, at one host and one path. A host
// that is left out is not claimed, so that the one that the cluster generates stays.
func route(w workload.Workload, o workload.Observed) *Child {
	if !w.IsExposedBy(workload.ExposureRoute, o) {
		return nil
	}
	spec := routev1.RouteSpec{
		To: routev1.RouteTargetReference{Kind: kindService, Name: w.Owner.Name, Weight: new(int32(100))},
		// The name of the Service's port: a number would be the container's.
		Port:           &routev1.RoutePort{TargetPort: intstr.FromString(w.Exposure.Port.Name)},
		WildcardPolicy: routev1.WildcardPolicyNone,
	}
	if len(w.Exposure.Hosts) > 0 {
		spec.Host = w.Exposure.Hosts[0]
	}
	if domain, ok := strings.CutPrefix(spec.Host, "*."); ok {
		spec.Host, spec.WildcardPolicy = wildcardHost+domain, routev1.WildcardPolicySubdomain
	}
	// All paths are what no path means, and the only thing that passthrough can have.
	if len(w.Exposure.Paths) > 0 && w.Exposure.Paths[0].Path != "/" {
		spec.Path = w.Exposure.Paths[0].Path
	}
	if w.Exposure.RouteTermination != "" {
		spec.TLS = &routev1.TLSConfig{
			Termination:                   routev1.TLSTerminationType(w.Exposure.RouteTermination),
			InsecureEdgeTerminationPolicy: routev1.InsecureEdgeTerminationPolicyType(w.Exposure.RouteInsecurePolicy),
		}
	}
	return child(w.Owner, routev1.GroupVersion.WithKind(string(workload.ExposureRoute)), spec)
}
