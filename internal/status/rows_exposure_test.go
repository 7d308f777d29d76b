// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"slices"

	routev1 "github.com/openshift/api/route/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// exposed asks for exposure at hosts, on a cluster that has these optional kinds.
func exposed(kind workload.ExposureType, hosts []string, kinds ...string) func(*scene) {
	return func(s *scene) {
		s.workload.Service = &workload.Service{Type: corev1.ServiceTypeClusterIP}
		s.workload.Exposure = &workload.Exposure{Type: kind, Hosts: hosts, Paths: []workload.Path{{Path: "/"}}, RouteTermination: "edge"}
		if kind == workload.ExposureHTTPRoute {
			s.workload.Exposure.Gateway = &workload.Gateway{Namespace: "edge", Name: "public"}
		}
		s.platform.Kinds = map[string]bool{}
		for _, k := range kinds {
			s.platform.Kinds[k] = true
		}
	}
}

var oneHost = []string{"orders.example.com"}

func childMeta(s *scene) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "team-a", Name: "orders", Generation: 2, Labels: s.workload.Owner.ChildLabels()}
}

func ingress(s *scene) {
	s.children = map[string]workload.Object{"Ingress": &networkingv1.Ingress{ObjectMeta: childMeta(s)}}
}

// httpRoute is what the application attaches to the Gateway edge/public, with what parents
// say of it.
func httpRoute(parents ...gatewayv1.RouteParentStatus) func(*scene) {
	return func(s *scene) {
		s.children = map[string]workload.Object{"HTTPRoute": &gatewayv1.HTTPRoute{
			ObjectMeta: childMeta(s),
			Spec:       gatewayv1.HTTPRouteSpec{CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{gatewayRef("edge", "public")}}},
			Status:     gatewayv1.HTTPRouteStatus{RouteStatus: gatewayv1.RouteStatus{Parents: parents}},
		}}
	}
}

func gatewayRef(namespace, name string) gatewayv1.ParentReference {
	return gatewayv1.ParentReference{Namespace: new(gatewayv1.Namespace(namespace)), Name: gatewayv1.ObjectName(name)}
}

func parent(ref gatewayv1.ParentReference, conditions ...metav1.Condition) gatewayv1.RouteParentStatus {
	return gatewayv1.RouteParentStatus{ParentRef: ref, ControllerName: "example.com/gateway", Conditions: conditions}
}

func routeCondition(conditionType string, status metav1.ConditionStatus, generation int64, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, ObservedGeneration: generation, Reason: reason, Message: message}
}

// route is the application's, with what routers say of it.
func route(host string, ingresses ...routev1.RouteIngress) func(*scene) {
	return func(s *scene) {
		s.children = map[string]workload.Object{"Route": &routev1.Route{
			ObjectMeta: childMeta(s), Spec: routev1.RouteSpec{Host: host}, Status: routev1.RouteStatus{Ingress: ingresses},
		}}
	}
}

func router(host string, admitted corev1.ConditionStatus, reason, message string) routev1.RouteIngress {
	return routev1.RouteIngress{Host: host, RouterName: "default", Conditions: []routev1.RouteIngressCondition{
		{Type: routev1.RouteAdmitted, Status: admitted, Reason: reason, Message: message},
	}}
}

var (
	served         = want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, says: []string{"All 3 pods serve."}}
	exposurePends  = want{reason: appstatus.ReasonExposePending, phase: appstatus.PhaseUpdating, reconciling: true, available: true}
	exposureFailed = want{reason: appstatus.ReasonExposeRefused, phase: appstatus.PhaseDegraded, available: true}
)

func (w want) saying(parts ...string) want {
	w.says = append(slices.Clone(w.says), parts...)
	return w
}

func (w want) onThePage() want {
	w.documented = true
	return w
}

// exposureRows: an application that serves inside stays Available, whatever becomes of it outside.
func exposureRows() []row {
	unavailable := want{reason: appstatus.ReasonExposeUnavailable, phase: appstatus.PhaseDegraded, stalled: true, available: true}
	hostMissing := want{reason: appstatus.ReasonExposeHostMissing, phase: appstatus.PhaseDegraded, stalled: true, available: true}
	return []row{
		{"an Ingress exposes", running(3).with(exposed(workload.ExposureIngress, oneHost)).with(ingress), served},
		// No controller would say that it serves an Ingress, or does not.
		{"an Ingress is made in this turn", running(3).with(exposed(workload.ExposureIngress, oneHost)), served},
		{"the cluster has no HTTPRoutes", running(3).with(exposed(workload.ExposureHTTPRoute, oneHost)), unavailable.saying("HTTPRoute", "spec.expose.type").onThePage()},
		{"the cluster has no Routes", running(3).with(exposed(workload.ExposureRoute, nil)), unavailable.saying("Route", "expose.type asks for it")},
		{"N39 an Ingress without a host", running(3).with(exposed(workload.ExposureAuto, nil)), hostMissing.saying("Ingress", "catch the traffic of others", "spec.expose.hosts").onThePage()},
		{"N39 an HTTPRoute without a host", running(3).with(exposed(workload.ExposureHTTPRoute, nil, "HTTPRoute")), hostMissing.saying("HTTPRoute")},
		{"the application is stopped", running(0).with(exposed(workload.ExposureAuto, nil)), want{reason: appstatus.ReasonStopped, phase: appstatus.PhaseStopped, available: true}},
		{"the pods crash as well", running(1).with(exposed(workload.ExposureAuto, nil)).with(func(s *scene) { s.down(crashing(failure)) }), want{reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded}},
	}
}

func httpRouteRows() []row {
	asks := func(change func(*scene)) *scene {
		return running(3).with(exposed(workload.ExposureHTTPRoute, oneHost, "HTTPRoute")).with(change)
	}
	ours := gatewayRef("edge", "public")
	accepted := routeCondition("Accepted", metav1.ConditionTrue, 2, "Accepted", "")
	return []row{
		{"no HTTPRoute is there yet", asks(func(*scene) {}), exposurePends},
		{"no Gateway has taken the HTTPRoute up", asks(httpRoute()), exposurePends.saying("the Gateway edge/public has not taken up the HTTPRoute").onThePage()},
		{"an Ingress serves until a Gateway takes the HTTPRoute up", asks(httpRoute()).with(func(s *scene) {
			s.children["Ingress"] = &networkingv1.Ingress{ObjectMeta: childMeta(s)}
		}), exposurePends.saying("The change of spec.expose is not carried out, and the Ingress serves on: the Gateway edge/public has not taken up")},
		{"a Gateway serves the HTTPRoute", asks(httpRoute(parent(ours, accepted, routeCondition("ResolvedRefs", metav1.ConditionTrue, 2, "ResolvedRefs", "")))), served},
		{"a Gateway does not let the namespace in", asks(httpRoute(parent(ours, routeCondition("Accepted", metav1.ConditionFalse, 2, "NotAllowedByListeners", "No listener allows routes from team-a")))),
			exposureFailed.saying("the Gateway public does not serve the HTTPRoute: NotAllowedByListeners: No listener allows routes from team-a.").onThePage()},
		{"a Gateway does not find the Service", asks(httpRoute(parent(ours, accepted, routeCondition("ResolvedRefs", metav1.ConditionFalse, 2, "BackendNotFound", "no Service")))), exposureFailed.saying("BackendNotFound: no Service.")},
		{"one of two listeners serves", asks(httpRoute(parent(ours, routeCondition("Accepted", metav1.ConditionFalse, 2, "NoMatchingListenerHostname", "m")), parent(ours, accepted))), served},
		{"a Gateway speaks of the HTTPRoute before", asks(httpRoute(parent(ours, routeCondition("Accepted", metav1.ConditionFalse, 1, "NotAllowedByListeners", "m")))), exposurePends},
		{"a Gateway of before speaks", asks(httpRoute(parent(gatewayRef("edge", "private"), accepted))), exposurePends},
		{"a Gateway that does not tell of which HTTPRoute it speaks", asks(httpRoute(parent(ours, routeCondition("Accepted", metav1.ConditionTrue, 0, "Accepted", "")))), served},
	}
}

func routeRows() []row {
	asks := func(change func(*scene)) *scene {
		return running(3).with(exposed(workload.ExposureAuto, nil, "Route")).with(change)
	}
	return []row{
		{"no router has taken the Route up", asks(route("")), exposurePends.saying("no router has taken up the Route")},
		{"a router serves the Route", asks(route("orders.apps.example.com", router("orders.apps.example.com", corev1.ConditionTrue, "", ""))), served},
		{"a router refuses the Route", asks(route("orders.apps.example.com", router("orders.apps.example.com", corev1.ConditionFalse, "HostAlreadyClaimed", "a route in another namespace holds it"))),
			exposureFailed.saying("the router default does not serve the Route: HostAlreadyClaimed: a route in another namespace holds it.")},
		{"one of two routers serves the Route", asks(route("a.example.com", router("a.example.com", corev1.ConditionFalse, "m", "m"), router("a.example.com", corev1.ConditionTrue, "", ""))), served},
		{"a router speaks of the host before", asks(route("b.example.com", router("a.example.com", corev1.ConditionTrue, "", ""))), exposurePends},
	}
}
