// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	routev1 "github.com/openshift/api/route/v1"
	corev1 "k8s.io/api/core/v1"

	"platformapp/internal/workload"
)

// routeVerdict returns what the routers say of a Route. One that serves it is enough.
func routeVerdict(object workload.Object) exposureVerdict {
	route, ok := object.(*routev1.Route)
	if !ok {
		return exposureVerdict{state: exposureIsPending}
	}
	verdict := exposureVerdict{state: exposureIsPending}
	for _, ingress := range route.Status.Ingress {
		if !isOfPresentHost(route, ingress) {
			continue
		}
		for _, c := range ingress.Conditions {
			switch {
			case c.Type != routev1.RouteAdmitted:
			case c.Status == corev1.ConditionTrue:
				return exposureVerdict{state: exposureServes}
			case c.Status == corev1.ConditionFalse:
				verdict = exposureVerdict{
					state: exposureIsRefused,
					by:    fmt.Sprintf("the router %s", ingress.RouterName),
					words: c.Reason + ": " + c.Message,
				}
			}
		}
	}
	return verdict
}

// routeHost returns the host at which a router serves a Route, or the empty string.
func routeHost(route *routev1.Route) string {
	for _, ingress := range route.Status.Ingress {
		if isOfPresentHost(route, ingress) && isAdmitted(ingress) && ingress.WildcardPolicy != routev1.WildcardPolicySubdomain {
			return ingress.Host
		}
	}
	return ""
}

func isAdmitted(ingress routev1.RouteIngress) bool {
	for _, c := range ingress.Conditions {
		if c.Type == routev1.RouteAdmitted {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// isOfPresentHost tells whether a router speaks of the host that the Route has now.
func isOfPresentHost(route *routev1.Route, ingress routev1.RouteIngress) bool {
	return route.Spec.Host == "" || route.Spec.Host == ingress.Host
}
