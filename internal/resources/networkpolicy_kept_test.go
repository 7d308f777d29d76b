// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"testing"

	routev1 "github.com/openshift/api/route/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// acceptedByGateway is the status of an HTTPRoute that a gateway has taken up.
var acceptedByGateway = []gatewayv1.RouteParentStatus{{Conditions: []metav1.Condition{{
	Type: string(gatewayv1.RouteConditionAccepted), Status: metav1.ConditionTrue,
}}}}

// What is exposed stays reachable while what is to take its place is not there yet, and
// whoever is no longer needed is let in no longer.
func TestNetworkPolicyLetsInTheGatewayThatStillServes(t *testing.T) {
	const spec = `networkPolicy: {isolation: Listed}` + "\n"
	byGateway := workloadWith(t, spec+`expose: {hosts: [a.example.com], httpRoute: {gatewayRef: {name: public, namespace: gateways}}}`)
	all := map[string]bool{"HTTPRoute": true, "Route": true}
	route := &gatewayv1.HTTPRoute{}
	if !readChild(t, resources.Desired(byGateway, workload.Observed{Platform: workload.Platform{Kinds: all}}), "HTTPRoute", route) {
		t.Fatal("there is no HTTPRoute")
	}
	inOwnNamespace := route.DeepCopy()
	inOwnNamespace.Spec.ParentRefs[0].Namespace = nil
	accepted := route.DeepCopy()
	accepted.Status.Parents = acceptedByGateway
	foreign := route.DeepCopy()
	foreign.OwnerReferences, foreign.Labels = nil, nil
	ingressOf := func(w workload.Workload) *networkingv1.Ingress {
		ingress := &networkingv1.Ingress{}
		if !readChild(t, resources.Desired(w, workload.Observed{Platform: workload.Platform{Kinds: all}}), "Ingress", ingress) {
			t.Fatal("there is no Ingress")
		}
		return ingress
	}
	byIngress := workloadWith(t, spec+`expose: {type: Ingress, hosts: [a.example.com]}`)
	byIngressAtNoHost := byIngress
	byIngressAtNoHost.Exposure = &workload.Exposure{Type: workload.ExposureIngress, Paths: byIngress.Exposure.Paths, Port: byIngress.Exposure.Port}
	byAnother := workloadWith(t, spec+`expose: {hosts: [a.example.com], httpRoute: {gatewayRef: {name: public, namespace: others}}}`)
	byAnotherAtNoHost := byAnother
	withoutHosts := *byAnother.Exposure
	withoutHosts.Hosts = nil
	byAnotherAtNoHost.Exposure = &withoutHosts

	for _, test := range []struct {
		name     string
		w        workload.Workload
		children map[string]workload.Object
		kinds    map[string]bool
		// letIn tells who may connect.
		letIn map[string]bool
	}{
		{"the HTTPRoute serves until the Ingress is there", byIngress, map[string]workload.Object{"HTTPRoute": route}, all, map[string]bool{"gateways": true}},
		{"its gateway is in the namespace of the application", byIngress, map[string]workload.Object{"HTTPRoute": inOwnNamespace}, all, map[string]bool{"team-a": true}},
		{"the Ingress is there", byIngress, map[string]workload.Object{"HTTPRoute": route, "Ingress": ingressOf(byIngress)}, all, nil},
		{"the Ingress cannot be made", byIngressAtNoHost, map[string]workload.Object{"HTTPRoute": route}, all, map[string]bool{"gateways": true}},
		{"the HTTPRoute is somebody else's", byIngress, map[string]workload.Object{"HTTPRoute": foreign}, all, nil},
		{"the HTTPRoute that serves cannot be changed to another gateway", byAnotherAtNoHost, map[string]workload.Object{"HTTPRoute": route}, all, map[string]bool{"gateways": true, "others": true}},
		{"the HTTPRoute leads to another gateway now", byAnother, map[string]workload.Object{"HTTPRoute": accepted}, all, map[string]bool{"others": true}},
		{"nothing is exposed any more", workloadWith(t, spec), map[string]workload.Object{"HTTPRoute": route}, all, nil},
		{"the HTTPRoute comes", byGateway, map[string]workload.Object{"Ingress": ingressOf(byIngress)}, all, map[string]bool{"gateways": true, "ingress": true}},
		{"the HTTPRoute cannot come", byGateway, map[string]workload.Object{"Ingress": ingressOf(byIngress)}, nil, map[string]bool{"gateways": true, "ingress": true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, policy := test.w, &networkingv1.NetworkPolicy{}
			if test.letIn["ingress"] {
				listed := *w.NetworkPolicy
				listed.IngressNamespaces = []string{"ingress"}
				w.NetworkPolicy = &listed
			}
			o := workload.Observed{Platform: workload.Platform{Kinds: test.kinds}, Children: test.children}
			if !readChild(t, resources.Desired(w, o), "NetworkPolicy", policy) {
				t.Fatal("there is no NetworkPolicy")
			}
			for _, namespace := range []string{"gateways", "others", "team-a", "ingress"} {
				if got, want := mayConnect(t, policy, caller{namespace: namespace}, 8080), test.letIn[namespace]; got != want {
					t.Errorf("the namespace %s is let in: %t, want %t", namespace, got, want)
				}
			}
		})
	}
}

// The port too at which it still serves stays open.
func TestNetworkPolicyLeavesOpenThePortThatStillServes(t *testing.T) {
	const spec = `
networkPolicy: {isolation: Listed}
ports: [{name: http, containerPort: 8080}, {name: web, containerPort: 9090}]
`
	all := map[string]bool{"HTTPRoute": true, "Route": true}
	const gateway = "httpRoute: {gatewayRef: {name: public, namespace: ingress}}"
	for kind, test := range map[string]struct {
		live   workload.Object
		before string
		after  string
	}{
		"Ingress":   {&networkingv1.Ingress{}, "type: Ingress, hosts: [a.example.com]", "type: HTTPRoute, hosts: [a.example.com], " + gateway},
		"HTTPRoute": {&gatewayv1.HTTPRoute{}, "type: HTTPRoute, hosts: [a.example.com], " + gateway, "type: Route, hosts: [a.example.com]"},
		"Route":     {&routev1.Route{}, "type: Route, hosts: [a.example.com]", "type: Ingress, hosts: [a.example.com]"},
	} {
		t.Run(kind, func(t *testing.T) {
			o := workload.Observed{Platform: workload.Platform{Kinds: all}}
			if !readChild(t, resources.Desired(workloadWith(t, spec+"expose: {"+test.before+", port: http}"), o), kind, test.live) {
				t.Fatal("it is not there")
			}
			w, policy := workloadWith(t, spec+"expose: {"+test.after+", port: web}"), &networkingv1.NetworkPolicy{}
			w.NetworkPolicy.IngressNamespaces = []string{"ingress"}
			for _, still := range []bool{true, false} {
				if still {
					o.Children = map[string]workload.Object{kind: test.live}
				} else {
					o.Children = nil
				}
				*policy = networkingv1.NetworkPolicy{}
				readChild(t, resources.Desired(w, o), "NetworkPolicy", policy)
				if got := mayConnect(t, policy, caller{namespace: "ingress"}, 8080); got != still {
					t.Errorf("the former port is open: %t, want %t", got, still)
				}
				if !mayConnect(t, policy, caller{namespace: "ingress"}, 9090) {
					t.Error("the new port is closed")
				}
			}
		})
	}
}
