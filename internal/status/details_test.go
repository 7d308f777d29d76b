// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	routev1 "github.com/openshift/api/route/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// The URL leads to where the application is reached, or there is none.
func TestURL(t *testing.T) {
	ingressAt := func(secret string, hosts []string, paths ...string) *scene {
		return running(1).with(exposed(workload.ExposureIngress, hosts)).with(ingress).with(func(s *scene) {
			s.workload.Exposure.TLSSecret = secret
			s.workload.Exposure.Paths = nil
			for _, path := range paths {
				s.workload.Exposure.Paths = append(s.workload.Exposure.Paths, workload.Path{Path: path})
			}
		})
	}
	httpRouteAt := func(listener string) *scene {
		return running(1).with(exposed(workload.ExposureHTTPRoute, oneHost, "HTTPRoute")).with(httpRoute()).with(func(s *scene) {
			s.workload.Exposure.Gateway.SectionName = listener
		})
	}
	routeAt := func(hosts []string, host string, ingresses ...routev1.RouteIngress) *scene {
		return running(1).with(exposed(workload.ExposureRoute, hosts, "Route")).with(route(host, ingresses...))
	}
	wildcard := router("www.example.com", corev1.ConditionTrue, "", "")
	wildcard.WildcardPolicy = routev1.WildcardPolicySubdomain
	for name, test := range map[string]struct {
		scene *scene
		want  string
	}{
		"inside only":                              {running(1), ""},
		"Ingress":                                  {ingressAt("", oneHost, "/"), "http://orders.example.com"},
		"Ingress with a certificate":               {ingressAt("tls", oneHost, "/"), "https://orders.example.com"},
		"N38 Ingress with paths":                   {ingressAt("tls", oneHost, "/shop", "/api"), "https://orders.example.com/shop"},
		"N38 Ingress with hosts":                   {ingressAt("", []string{"b.example.com", "a.example.com"}, "/"), "http://b.example.com"},
		"N38 Ingress for all names":                {ingressAt("tls", []string{"*.shop.example.com"}, "/"), ""},
		"N38 Ingress for all names and one":        {ingressAt("tls", []string{"*.shop.example.com", "shop.example.com"}, "/"), "https://shop.example.com"},
		"Ingress that is not there":                {ingressAt("", oneHost, "/").with(func(s *scene) { s.children = nil }), ""},
		"Ingress of somebody else":                 {ingressAt("", oneHost, "/").with(func(s *scene) { s.children["Ingress"].SetLabels(nil) }), ""},
		"N39 Ingress without a host":               {ingressAt("", nil, "/"), ""},
		"HTTPRoute":                                {httpRouteAt(""), "http://orders.example.com"},
		"HTTPRoute at the listener https":          {httpRouteAt("https"), "https://orders.example.com"},
		"N39 Route with a host that was generated": {routeAt(nil, "orders-team-a.apps.example.com", router("orders-team-a.apps.example.com", corev1.ConditionTrue, "", "")), "https://orders-team-a.apps.example.com"},
		"Route that no router has taken up":        {routeAt(oneHost, "orders.example.com"), ""},
		"Route that a router refuses":              {routeAt(oneHost, "orders.example.com", router("orders.example.com", corev1.ConditionFalse, "", "")), ""},
		"Route for all names":                      {routeAt([]string{"*.example.com"}, "www.example.com", wildcard), ""},
		"Route without encryption": {routeAt(oneHost, "orders.example.com", router("orders.example.com", corev1.ConditionTrue, "", "")).with(func(s *scene) {
			s.workload.Exposure.RouteTermination = ""
		}), "http://orders.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.scene.result().Details.URL; got != test.want {
				t.Errorf("the URL is %q, want %q", got, test.want)
			}
		})
	}
}

func TestDetailsTellWhatWasChosenAndResolved(t *testing.T) {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi")}
	limits := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")}
	s := running(1).with(exposed(workload.ExposureAuto, oneHost, "Route"))
	s.workload.Container.Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
	want := appstatus.Details{
		Expose:    &appstatus.Exposure{Type: "Route", Reason: "the cluster has Routes"},
		Resources: &appstatus.Resources{Requests: requests, Limits: limits},
	}
	if diff := cmp.Diff(want, s.result().Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(appstatus.Details{}, running(1).result().Details); diff != "" {
		t.Errorf("details of an application that is neither exposed nor sized (-want +got):\n%s", diff)
	}
	// A stopped, a paused and a failing application were sized and exposed all the same.
	s.workload.Paused = true
	if got := s.result().Details; got.Resources == nil || got.Expose == nil {
		t.Errorf("details of a paused application are %v", got)
	}
}

// What ran before runs on: of a specification that is not carried out nothing is told.
func TestDetailsStayWhileTheSpecificationIsNotCarriedOut(t *testing.T) {
	previous := appstatus.Details{URL: "https://orders.example.com", Expose: &appstatus.Exposure{Type: "Route"}}
	s := running(1)
	s.workload.Container.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	s.previousDetails = previous
	if got := s.result().Details; got.URL != "" {
		t.Errorf("the URL of an application that is not exposed any more is %q", got.URL)
	}
	for _, reason := range []workload.StallReason{workload.StallInvalid, workload.StallDuplicateAppID, workload.StallServiceAccount} {
		s.stall = &workload.Stall{Reason: reason, Message: "It does not go."}
		if diff := cmp.Diff(previous, s.result().Details); diff != "" {
			t.Errorf("%s: details (-want +got):\n%s", reason, diff)
		}
	}
}
