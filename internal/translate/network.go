// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/workload"
)

func ports(spec *v1alpha1.EGAppSpec) []workload.Port {
	var out []workload.Port
	for _, port := range spec.Listens() {
		out = append(out, portOf(&port))
	}
	return out
}

// portOf takes a port that has every default resolved.
func portOf(port *v1alpha1.Port) workload.Port {
	return workload.Port{
		Name: port.Name, ContainerPort: port.ContainerPort, ServicePort: *port.ServicePort,
		Protocol: port.Protocol, AppProtocol: port.AppProtocol,
	}
}

func service(spec *v1alpha1.EGAppSpec) *workload.Service {
	s := spec.Service
	switch {
	case spec.IsWorker():
		return nil
	case s == nil:
		return &workload.Service{Type: corev1.ServiceTypeClusterIP}
	}
	out := &workload.Service{Type: corev1.ServiceType(s.Type), Annotations: s.Annotations}
	switch s.Type {
	case "":
		out.Type = corev1.ServiceTypeClusterIP
	case v1alpha1.ServiceTypeHeadless:
		out.Type, out.Headless = corev1.ServiceTypeClusterIP, true
	case v1alpha1.ServiceTypeClusterIP, v1alpha1.ServiceTypeNodePort, v1alpha1.ServiceTypeLoadBalancer, v1alpha1.ServiceTypeNone:
	}
	return out
}

func exposure(app *v1alpha1.EGApp) *workload.Exposure {
	e := app.Spec.Expose
	if e == nil {
		return nil
	}
	out := &workload.Exposure{
		Type:  workload.ExposureType(e.Type),
		Hosts: e.Hosts,
		Paths: paths(e.Paths),
		Port:  portOf(app.Spec.ServingPort(e.Port)),
	}
	if out.Type == "" {
		out.Type = workload.ExposureAuto
	}
	if out.Type == workload.ExposureAuto {
		out.Settled = workload.ExposureType(e.SettledType())
	}
	if i := e.Ingress; i != nil {
		out.IngressClass, out.TLSSecret, out.IngressAnnotations = i.ClassName, i.TLSSecretName, i.Annotations
	}
	if r := e.HTTPRoute; r != nil {
		out.Gateway = &workload.Gateway{Namespace: r.GatewayRef.Namespace, Name: r.GatewayRef.Name, SectionName: r.GatewayRef.SectionName}
		if out.Gateway.Namespace == "" {
			out.Gateway.Namespace = app.Namespace
		}
	}
	out.RouteTermination, out.RouteInsecurePolicy = encryption(e.Route)
	return out
}

func paths(given []v1alpha1.ExposePath) []workload.Path {
	if len(given) == 0 {
		return []workload.Path{{Path: "/"}}
	}
	var out []workload.Path
	for _, path := range given {
		out = append(out, workload.Path{Path: path.Path, Exact: path.PathType == v1alpha1.PathTypeExact})
	}
	return out
}

// encryption returns the termination of a Route, which is empty for no encryption, and what
// becomes of requests that are not encrypted, in the words of its API.
func encryption(r *v1alpha1.ExposeRoute) (termination, insecure string) {
	termination, insecure = "edge", string(v1alpha1.RouteInsecurePolicyRedirect)
	if r == nil {
		return termination, insecure
	}
	if r.Termination == v1alpha1.RouteTerminationNone {
		return "", ""
	}
	if r.Termination != "" {
		termination = strings.ToLower(string(r.Termination))
	}
	if r.InsecurePolicy != "" {
		insecure = string(r.InsecurePolicy)
	}
	return termination, insecure
}

func monitoring(spec *v1alpha1.EGAppSpec) *workload.Monitoring {
	m := spec.Monitoring
	if m == nil {
		return nil
	}
	out := &workload.Monitoring{Port: spec.MetricsPort().Name, Path: m.Path, Interval: m.Interval, Labels: m.Labels}
	if out.Path == "" {
		out.Path = "/metrics"
	}
	return out
}

func networkPolicy(app *v1alpha1.EGApp, options Options) *workload.NetworkPolicy {
	n := app.Spec.NetworkPolicy
	if n == nil {
		return nil
	}
	out := &workload.NetworkPolicy{
		SameNamespace:        n.Isolation == v1alpha1.IsolationNamespace,
		IngressNamespaces:    options.IngressNamespaces,
		MonitoringNamespaces: options.MonitoringNamespaces,
	}
	for _, peer := range n.From {
		p := workload.Peer{Namespace: peer.Namespace, Name: peer.App}
		if p.Namespace == "" {
			p.Namespace = app.Namespace
		}
		if !slices.Contains(out.From, p) {
			out.From = append(out.From, p)
		}
	}
	return out
}
