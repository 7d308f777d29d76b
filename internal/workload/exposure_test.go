// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	routev1 "github.com/openshift/api/route/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/internal/workload"
)

// exposed is an application that is exposed as the test says, and has a Service.
func exposed(e *workload.Exposure) workload.Workload {
	return workload.Workload{
		Owner:    workload.Owner{Namespace: "team-a", Name: "orders", UID: "1"},
		Service:  &workload.Service{},
		Exposure: e,
	}
}

// seen is a cluster that has kinds, and what has the application's name in it: an object of
// the application itself unless the kind is preceded by "foreign ".
func seen(kinds []string, children ...string) workload.Observed {
	o := workload.Observed{Platform: workload.Platform{Kinds: map[string]bool{}}, Children: map[string]workload.Object{}}
	for _, kind := range kinds {
		o.Platform.Kinds[kind] = true
	}
	for _, child := range children {
		ours := metav1.ObjectMeta{Name: "orders", Labels: map[string]string{workload.LabelOwnerUID: "1"}}
		theirs := metav1.ObjectMeta{Name: "orders"}
		switch child {
		case "Ingress":
			o.Children["Ingress"] = &networkingv1.Ingress{ObjectMeta: ours}
		case "foreign Ingress":
			o.Children["Ingress"] = &networkingv1.Ingress{ObjectMeta: theirs}
		case "HTTPRoute":
			o.Children["HTTPRoute"] = &gatewayv1.HTTPRoute{ObjectMeta: ours}
		case "foreign HTTPRoute":
			o.Children["HTTPRoute"] = &gatewayv1.HTTPRoute{ObjectMeta: theirs}
		case "Route":
			o.Children["Route"] = &routev1.Route{ObjectMeta: ours}
		case "foreign Route":
			o.Children["Route"] = &routev1.Route{ObjectMeta: theirs}
		}
	}
	return o
}

// told is what was seen with the word of gateways and routers about what is exposed by them.
func told(o workload.Observed, status metav1.ConditionStatus, reason string) workload.Observed {
	if route, ok := o.Children["HTTPRoute"].(*gatewayv1.HTTPRoute); ok {
		route.Status.Parents = []gatewayv1.RouteParentStatus{{Conditions: []metav1.Condition{{Type: "Accepted", Status: status, Reason: reason}}}}
	}
	if route, ok := o.Children["Route"].(*routev1.Route); ok {
		route.Status.Ingress = []routev1.RouteIngress{{Conditions: []routev1.RouteIngressCondition{
			{Type: routev1.RouteAdmitted, Status: corev1.ConditionStatus(status), Reason: reason},
		}}}
	}
	return o
}

var (
	host     = []string{"a.example.com"}
	root     = []workload.Path{{Path: "/"}}
	gateway  = &workload.Gateway{Namespace: "gateways", Name: "public"}
	auto     = &workload.Exposure{Type: workload.ExposureAuto, Hosts: host, Paths: root}
	hostless = &workload.Exposure{Type: workload.ExposureAuto, Paths: root}
	byRoute  = &workload.Exposure{Type: workload.ExposureRoute, Paths: root}
)

// settled leaves the kind open but gives settings of one.
func settled(kind workload.ExposureType) *workload.Exposure {
	return &workload.Exposure{Type: workload.ExposureAuto, Settled: kind, Hosts: host, Paths: root}
}

func TestChosenExposure(t *testing.T) {
	all := []string{"HTTPRoute", "Route"}
	for _, test := range []struct {
		name     string
		exposure *workload.Exposure
		observed workload.Observed
		want     workload.ExposureType
		problem  workload.ExposureProblem
	}{
		{"not exposed", nil, seen(all), "", ""},
		{"open, on a plain cluster", auto, seen(nil), workload.ExposureIngress, ""},
		{"open, where there are Routes", auto, seen(all), workload.ExposureRoute, ""},
		{"open, with gateways but none named", auto, seen([]string{"HTTPRoute"}), workload.ExposureIngress, ""},
		{"open, with a gateway", &workload.Exposure{Type: workload.ExposureAuto, Hosts: host, Paths: root, Gateway: gateway, Settled: workload.ExposureHTTPRoute}, seen(all), workload.ExposureHTTPRoute, ""},
		{"open, with a gateway but no API", &workload.Exposure{Type: workload.ExposureAuto, Hosts: host, Paths: root, Gateway: gateway, Settled: workload.ExposureHTTPRoute}, seen(nil), workload.ExposureHTTPRoute, workload.ExposureUnavailable},
		{"open, with settings of an Ingress where there are Routes", settled(workload.ExposureIngress), seen(all), workload.ExposureIngress, ""},
		{"open, with settings of an Ingress while a Route serves", settled(workload.ExposureIngress), seen(all, "Route"), workload.ExposureIngress, ""},
		{"open, with settings of a Route", settled(workload.ExposureRoute), seen(all), workload.ExposureRoute, ""},
		{"open, with settings of a Route while an Ingress serves", settled(workload.ExposureRoute), seen(all, "Ingress"), workload.ExposureRoute, ""},
		{"open, with settings of a Route on a plain cluster", settled(workload.ExposureRoute), seen(nil), workload.ExposureRoute, workload.ExposureUnavailable},
		{"open, with settings of a Route that it cannot have", &workload.Exposure{Type: workload.ExposureAuto, Settled: workload.ExposureRoute, Hosts: []string{"a", "b"}, Paths: root}, seen(nil), workload.ExposureRoute, workload.ExposureUnavailable},

		{"open, and an Ingress serves when Routes come", auto, seen(all, "Ingress"), workload.ExposureIngress, ""},
		{"open, and an Ingress of somebody else has the name", auto, seen(all, "foreign Ingress"), workload.ExposureRoute, ""},
		{"open, and a Route serves", auto, seen(all, "Route"), workload.ExposureRoute, ""},
		{"open, and a Route was seen of an API that is gone", auto, seen(nil, "Route"), workload.ExposureIngress, ""},
		{"open, and both serve", auto, seen(all, "Route", "Ingress"), workload.ExposureRoute, ""},
		{"open, and an HTTPRoute serves though no gateway is named any more", auto, seen(all, "HTTPRoute"), workload.ExposureRoute, ""},

		{"N39 open without a host, on a plain cluster", hostless, seen(nil), workload.ExposureIngress, workload.ExposureHostMissing},
		{"N39 open without a host, where there are Routes", hostless, seen(all), workload.ExposureRoute, ""},
		{"N39 without a host by a gateway", &workload.Exposure{Type: workload.ExposureHTTPRoute, Paths: root, Gateway: gateway}, seen(all), workload.ExposureHTTPRoute, workload.ExposureHostMissing},

		{"N38 open, with what a Route cannot say: two hosts", &workload.Exposure{Type: workload.ExposureAuto, Hosts: []string{"a", "b"}, Paths: root}, seen(all), workload.ExposureIngress, ""},
		{"N38 open, with what a Route cannot say: two paths", &workload.Exposure{Type: workload.ExposureAuto, Hosts: host, Paths: []workload.Path{{Path: "/a"}, {Path: "/b"}}}, seen(all, "Route"), workload.ExposureIngress, ""},
		{"N38 open, with what a Route cannot say: exactly a path", &workload.Exposure{Type: workload.ExposureAuto, Hosts: host, Paths: []workload.Path{{Path: "/a", Exact: true}}}, seen(all), workload.ExposureIngress, ""},

		{"asked for an Ingress", &workload.Exposure{Type: workload.ExposureIngress, Hosts: host, Paths: root}, seen(all, "Route"), workload.ExposureIngress, ""},
		{"asked for a Route", byRoute, seen(all, "Ingress"), workload.ExposureRoute, ""},
		{"asked for a Route that the cluster lacks", byRoute, seen(nil), workload.ExposureRoute, workload.ExposureUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := exposed(test.exposure)
			got := w.ChosenExposure(test.observed)
			if got.Type != test.want || got.Problem != test.problem {
				t.Errorf("chosen is %q with the problem %q, want %q with %q", got.Type, got.Problem, test.want, test.problem)
			}
			if (got.Why == "") != (test.exposure == nil) {
				t.Errorf("the reason is %q", got.Why)
			}
			for _, kind := range []workload.ExposureType{workload.ExposureIngress, workload.ExposureHTTPRoute, workload.ExposureRoute} {
				if got, want := w.IsExposedBy(kind, test.observed), kind == test.want && test.problem == ""; got != want {
					t.Errorf("it is exposed by the %s: %t, want %t", kind, got, want)
				}
			}
			w.Service = nil
			if got.Type != "" && w.IsExposedBy(got.Type, test.observed) {
				t.Error("it is exposed without a Service")
			}
		})
	}
}

// What was chosen keeps its reason when it serves.
func TestWhyAnExposureIsOfItsKind(t *testing.T) {
	for name, test := range map[string]struct {
		observed workload.Observed
		want     string
	}{
		"on a plain cluster":                 {seen(nil), "the cluster has no Routes, and no gateway is named"},
		"when the Ingress serves":            {seen(nil, "Ingress"), "the cluster has no Routes, and no gateway is named"},
		"when Routes come beside an Ingress": {seen([]string{"Route"}, "Ingress"), "an Ingress serves already"},
		"where there are Routes":             {seen([]string{"Route"}), "the cluster has Routes"},
		"when the Route serves":              {seen([]string{"Route"}, "Route"), "the cluster has Routes"},
		"when both serve":                    {seen([]string{"Route"}, "Route", "Ingress"), "the cluster has Routes"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := exposed(auto).ChosenExposure(test.observed).Why; got != test.want {
				t.Errorf("the reason is %q, want %q", got, test.want)
			}
		})
	}
}

// A change of kind never leaves a moment with neither.
func TestWhatServesStaysUntilItsSuccessorIsThere(t *testing.T) {
	all := []string{"HTTPRoute", "Route"}
	byGateway := &workload.Exposure{Type: workload.ExposureHTTPRoute, Hosts: host, Paths: root, Gateway: gateway}
	for _, test := range []struct {
		name     string
		exposure *workload.Exposure
		observed workload.Observed
		kind     string
		want     bool
	}{
		{"the successor is not there yet", byGateway, seen(all, "Ingress"), "Ingress", true},
		{"somebody else has the successor's name", byGateway, seen(all, "Ingress", "foreign HTTPRoute"), "Ingress", true},
		{"no gateway has taken up the successor yet", byGateway, seen(all, "Ingress", "HTTPRoute"), "Ingress", true},
		{"a gateway refuses the successor", byGateway, told(seen(all, "Ingress", "HTTPRoute"), metav1.ConditionFalse, "NoMatchingParent"), "Ingress", true},
		{"a gateway has taken up the successor", byGateway, told(seen(all, "Ingress", "HTTPRoute"), metav1.ConditionTrue, "Accepted"), "Ingress", false},
		{"no router has taken up the successor yet", byRoute, seen(all, "Ingress", "Route"), "Ingress", true},
		{"a router refuses the successor", byRoute, told(seen(all, "Ingress", "Route"), metav1.ConditionFalse, "ExtendedValidationFailed"), "Ingress", true},
		{"a router waits for the host of what served so far", byRoute, told(seen(all, "Ingress", "Route"), metav1.ConditionFalse, "HostAlreadyClaimed"), "Ingress", false},
		{"a router has taken up the successor", byRoute, told(seen(all, "Ingress", "Route"), metav1.ConditionTrue, ""), "Ingress", false},
		{"the successor is an Ingress, of which nobody tells", &workload.Exposure{Type: workload.ExposureIngress, Hosts: host, Paths: root}, seen(all, "Ingress", "Route"), "Route", false},
		{"the cluster lacks the successor's API", byGateway, seen(nil, "Ingress"), "Ingress", true},
		{"the successor has no host", &workload.Exposure{Type: workload.ExposureIngress, Paths: root}, seen(all, "Route"), "Route", true},
		{"its own host is gone", &workload.Exposure{Type: workload.ExposureIngress, Paths: root}, seen(all, "Ingress"), "Ingress", true},
		{"nothing is exposed any more", nil, seen(all, "Ingress"), "Ingress", false},
		{"another kind of child", byGateway, seen(all, "Ingress"), "Service", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := exposed(test.exposure).StillServes(test.kind, test.observed); got != test.want {
				t.Errorf("still serves: %t, want %t", got, test.want)
			}
		})
	}
	worker := exposed(byGateway)
	worker.Service = nil
	if worker.StillServes("Ingress", seen(all, "Ingress")) {
		t.Error("what leads nowhere still serves")
	}
}
