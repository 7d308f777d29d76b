// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/internal/workload"
)

// httpRouteVerdict returns what the gateways say of an HTTPRoute. One that serves it is
// enough: each listener of a Gateway may have a controller of its own.
func httpRouteVerdict(object workload.Object) exposureVerdict {
	route, ok := object.(*gatewayv1.HTTPRoute)
	if !ok {
		return exposureVerdict{state: exposureIsPending}
	}
	verdict := exposureVerdict{state: exposureIsPending}
	for _, parent := range route.Status.Parents {
		if !isParentOf(route, parent.ParentRef) {
			continue
		}
		refusal := refusalOf(route.Generation, parent.Conditions)
		if refusal != nil {
			verdict = exposureVerdict{
				state: exposureIsRefused,
				by:    fmt.Sprintf("the Gateway %s", parent.ParentRef.Name),
				words: refusal.Reason + ": " + refusal.Message,
			}
		} else if accepted := current(route.Generation, parent.Conditions, string(gatewayv1.RouteConditionAccepted)); accepted != nil && accepted.Status == metav1.ConditionTrue {
			return exposureVerdict{state: exposureServes}
		}
	}
	return verdict
}

// isParentOf tells whether the route asks for that parent: the status may still hold one
// that it asked for before.
func isParentOf(route *gatewayv1.HTTPRoute, parent gatewayv1.ParentReference) bool {
	namespace := func(ref gatewayv1.ParentReference) string {
		if ref.Namespace == nil {
			return route.Namespace
		}
		return string(*ref.Namespace)
	}
	return slices.ContainsFunc(route.Spec.ParentRefs, func(ref gatewayv1.ParentReference) bool {
		return ref.Name == parent.Name && namespace(ref) == namespace(parent)
	})
}

func refusalOf(generation int64, conditions []metav1.Condition) *metav1.Condition {
	for _, conditionType := range []gatewayv1.RouteConditionType{gatewayv1.RouteConditionAccepted, gatewayv1.RouteConditionResolvedRefs} {
		if c := current(generation, conditions, string(conditionType)); c != nil && c.Status == metav1.ConditionFalse {
			return c
		}
	}
	return nil
}

// current returns a condition if it is that of the present specification.
func current(generation int64, conditions []metav1.Condition, conditionType string) *metav1.Condition {
	c := meta.FindStatusCondition(conditions, conditionType)
	if c == nil || (c.ObservedGeneration != 0 && c.ObservedGeneration < generation) {
		return nil
	}
	return c
}
