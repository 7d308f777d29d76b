// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// N17
func TestPortsAreCompleted(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		want       []workload.Port
	}{
		{"left out", `{}`, []workload.Port{{Name: "http", ContainerPort: 8080, ServicePort: 80, Protocol: "TCP"}}},
		{"empty", `{ports: []}`, []workload.Port{{Name: "http", ContainerPort: 8080, ServicePort: 80, Protocol: "TCP"}}},
		{"a worker", `{service: {type: None}}`, nil},
		{
			"N17", `{ports: [
				{name: dns-tcp, containerPort: 5353, servicePort: 53, protocol: TCP}, {name: dns-udp, containerPort: 5353, servicePort: 53, protocol: UDP},
				{name: grpc, containerPort: 9090, servicePort: 9090, appProtocol: kubernetes.io/h2c}, {name: admin, containerPort: 9090, servicePort: 9091}]}`,
			[]workload.Port{
				{Name: "dns-tcp", ContainerPort: 5353, ServicePort: 53, Protocol: "TCP"}, {Name: "dns-udp", ContainerPort: 5353, ServicePort: 53, Protocol: "UDP"},
				{Name: "grpc", ContainerPort: 9090, ServicePort: 9090, Protocol: "TCP", AppProtocol: "kubernetes.io/h2c"}, {Name: "admin", ContainerPort: 9090, ServicePort: 9091, Protocol: "TCP"},
			},
		},
		{"a servicePort left out is the containerPort", `{ports: [{name: web, containerPort: 3000}]}`, []workload.Port{{Name: "web", ContainerPort: 3000, ServicePort: 3000, Protocol: "TCP"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, translated(t, test.spec).Ports); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestServiceIsOfTheAskedType(t *testing.T) {
	for spec, want := range map[string]*workload.Service{
		`{}`:                                          {Type: corev1.ServiceTypeClusterIP},
		`{service: {}}`:                               {Type: corev1.ServiceTypeClusterIP},
		`{service: {type: ClusterIP}}`:                {Type: corev1.ServiceTypeClusterIP},
		`{service: {type: Headless}}`:                 {Type: corev1.ServiceTypeClusterIP, Headless: true},
		`{service: {type: NodePort}}`:                 {Type: corev1.ServiceTypeNodePort},
		`{service: {type: LoadBalancer}}`:             {Type: corev1.ServiceTypeLoadBalancer},
		`{service: {type: None}}`:                     nil,
		`{service: {annotations: {metallb.io/a: b}}}`: {Type: corev1.ServiceTypeClusterIP, Annotations: map[string]string{"metallb.io/a": "b"}},
	} {
		if diff := cmp.Diff(want, translated(t, spec).Service); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}

func TestExposureIsCompleted(t *testing.T) {
	http := workload.Port{Name: "http", ContainerPort: 8080, ServicePort: 80, Protocol: "TCP"}
	everything := []workload.Path{{Path: "/"}}
	for _, test := range []struct {
		name, spec string
		want       *workload.Exposure
	}{
		{"left out", `{}`, nil},
		{"a host", `{expose: {hosts: [a.example.com]}}`, &workload.Exposure{Type: "Auto", Hosts: []string{"a.example.com"}, Paths: everything, Port: http, RouteTermination: "edge", RouteInsecurePolicy: "Redirect"}},
		{"N39 a Route without host", `{expose: {type: Route}}`, &workload.Exposure{Type: "Route", Paths: everything, Port: http, RouteTermination: "edge", RouteInsecurePolicy: "Redirect"}},
		{
			"N38", `{expose: {type: Ingress, hosts: ["*.shop.example.com", b.example.com], paths: [{path: /}, {path: /api, pathType: Exact}], ingress: {className: nginx, tlsSecretName: shop-tls, annotations: {cert-manager.io/cluster-issuer: le}}}}`,
			&workload.Exposure{
				Type: "Ingress", Hosts: []string{"*.shop.example.com", "b.example.com"}, Paths: []workload.Path{{Path: "/"}, {Path: "/api", Exact: true}}, Port: http,
				IngressClass: "nginx", TLSSecret: "shop-tls", IngressAnnotations: map[string]string{"cert-manager.io/cluster-issuer": "le"}, RouteTermination: "edge", RouteInsecurePolicy: "Redirect",
			},
		},
		{
			"a gateway here", `{expose: {hosts: [a.example.com], httpRoute: {gatewayRef: {name: public}}}}`,
			&workload.Exposure{Type: "Auto", Settled: "HTTPRoute", Hosts: []string{"a.example.com"}, Paths: everything, Port: http, Gateway: &workload.Gateway{Namespace: "team-a", Name: "public"}, RouteTermination: "edge", RouteInsecurePolicy: "Redirect"},
		},
		{
			"a certificate of an Ingress", `{expose: {hosts: [a.example.com], ingress: {tlsSecretName: shop-tls}}}`,
			&workload.Exposure{Type: "Auto", Settled: "Ingress", Hosts: []string{"a.example.com"}, Paths: everything, Port: http, TLSSecret: "shop-tls", RouteTermination: "edge", RouteInsecurePolicy: "Redirect"},
		},
		{
			"an empty form of an Ingress", `{expose: {hosts: [a.example.com], ingress: {}, route: {}}}`,
			&workload.Exposure{Type: "Auto", Hosts: []string{"a.example.com"}, Paths: everything, Port: http, RouteTermination: "edge", RouteInsecurePolicy: "Redirect"},
		},
		{
			"a termination", `{expose: {hosts: [a.example.com], route: {termination: Passthrough}}}`,
			&workload.Exposure{Type: "Auto", Settled: "Route", Hosts: []string{"a.example.com"}, Paths: everything, Port: http, RouteTermination: "passthrough", RouteInsecurePolicy: "Redirect"},
		},
		{
			"an Ingress or a Route", `{expose: {hosts: [a.example.com], ingress: {className: nginx}, route: {termination: Edge}}}`,
			&workload.Exposure{Type: "Auto", Hosts: []string{"a.example.com"}, Paths: everything, Port: http, IngressClass: "nginx", RouteTermination: "edge", RouteInsecurePolicy: "Redirect"},
		},
		{
			"a gateway elsewhere", `{expose: {type: HTTPRoute, hosts: [a.example.com], httpRoute: {gatewayRef: {name: public, namespace: gateways, sectionName: https}}}}`,
			&workload.Exposure{Type: "HTTPRoute", Hosts: []string{"a.example.com"}, Paths: everything, Port: http, Gateway: &workload.Gateway{Namespace: "gateways", Name: "public", SectionName: "https"}, RouteTermination: "edge", RouteInsecurePolicy: "Redirect"},
		},
		{"passthrough", `{expose: {type: Route, route: {termination: Passthrough, insecurePolicy: None}}}`, &workload.Exposure{Type: "Route", Paths: everything, Port: http, RouteTermination: "passthrough", RouteInsecurePolicy: "None"}},
		{"reencrypt", `{expose: {type: Route, route: {termination: Reencrypt, insecurePolicy: Allow}}}`, &workload.Exposure{Type: "Route", Paths: everything, Port: http, RouteTermination: "reencrypt", RouteInsecurePolicy: "Allow"}},
		{"no encryption", `{expose: {type: Route, route: {termination: None}}}`, &workload.Exposure{Type: "Route", Paths: everything, Port: http}},
		{"edge without saying so", `{expose: {type: Route, route: {insecurePolicy: Allow}}}`, &workload.Exposure{Type: "Route", Paths: everything, Port: http, RouteTermination: "edge", RouteInsecurePolicy: "Allow"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, translated(t, test.spec).Exposure); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// N17, N37: HTTP goes to a TCP port, and which one can be said.
func TestExposedPortIsChosen(t *testing.T) {
	for spec, want := range map[string]string{
		`{ports: [{name: dns, containerPort: 53, protocol: UDP}, {name: web, containerPort: 8000}], expose: {hosts: [a.example.com]}}`:                   "web",
		`{ports: [{name: admin, containerPort: 9000}, {name: http, containerPort: 8000}], expose: {hosts: [a.example.com]}}`:                             "http",
		`{ports: [{name: http, containerPort: 53, protocol: UDP}, {name: web, containerPort: 8000}], expose: {hosts: [a.example.com]}}`:                  "web",
		`{ports: [{name: http, containerPort: 8080}, {name: auth, containerPort: 4180, servicePort: 80}], expose: {hosts: [a.example.com], port: auth}}`: "auth",
	} {
		if got := translated(t, spec).Exposure.Port.Name; got != want {
			t.Errorf("%s exposes %s, want %s", spec, got, want)
		}
	}
}

// N36
func TestMonitoringIsCompleted(t *testing.T) {
	const ports = `ports: [{name: dns, containerPort: 8081, protocol: UDP, servicePort: 53}, {name: http, containerPort: 8080}, {name: management, containerPort: 8081}], `
	for spec, want := range map[string]*workload.Monitoring{
		`{}`:                         nil,
		`{monitoring: {port: http}}`: {Port: "http", Path: "/metrics"},
		`{` + ports + `monitoring: {port: management}}`: {Port: "management", Path: "/metrics"},
		`{` + ports + `monitoring: {port: "8081", path: /actuator/prometheus, interval: 30s, labels: {release: kube-prometheus-stack}}}`: {
			Port: "management", Path: "/actuator/prometheus", Interval: "30s", Labels: map[string]string{"release": "kube-prometheus-stack"},
		},
	} {
		if diff := cmp.Diff(want, translated(t, spec).Monitoring); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}

// N35
func TestNetworkPolicyKnowsWhoMustComeIn(t *testing.T) {
	options := translate.Options{IngressNamespaces: []string{"ingress-nginx"}, MonitoringNamespaces: []string{"monitoring"}}
	for spec, want := range map[string]*workload.NetworkPolicy{
		`{}`: nil,
		`{networkPolicy: {isolation: Namespace}}`: {SameNamespace: true, IngressNamespaces: options.IngressNamespaces, MonitoringNamespaces: options.MonitoringNamespaces},
		`{networkPolicy: {isolation: Listed, from: [{app: billing}, {app: shop, namespace: team-b}, {app: billing, namespace: team-a}]}}`: {
			From:              []workload.Peer{{Namespace: "team-a", Name: "billing"}, {Namespace: "team-b", Name: "shop"}},
			IngressNamespaces: options.IngressNamespaces, MonitoringNamespaces: options.MonitoringNamespaces,
		},
	} {
		w, err := translate.EGApp(specOf(t, spec), options)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, w.NetworkPolicy); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}
