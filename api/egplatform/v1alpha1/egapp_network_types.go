// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// Port is where the application listens, and where its Service serves it.
type Port struct {
	// Name of the port, by which probes, expose and monitoring refer to it: at most 15 lower-case letters, digits and '-', with a letter among them.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && self.matches('[a-z]') && !self.contains('--')",message="must be a port name: lower-case letters, digits and single '-', at least one letter, not beginning or ending with '-'"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Name",order=701
	Name string `json:"name"`

	// ContainerPort is the number that the application listens at, from 1 to 65535.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Container Port",order=702
	ContainerPort int32 `json:"containerPort"`

	// ServicePort is the number that the Service serves the port at, from 1 to 65535. Default: the containerPort.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Service Port",order=703
	ServicePort *int32 `json:"servicePort,omitempty"`

	// Protocol of the port: TCP, UDP or SCTP. Default: TCP.
	// +optional
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Protocol",order=704
	Protocol corev1.Protocol `json:"protocol,omitempty"`

	// AppProtocol tells proxies what is spoken at the port, for example kubernetes.io/h2c.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Application Protocol",order=705
	AppProtocol string `json:"appProtocol,omitempty"`
}

// ServiceType is how an application is reached inside the cluster.
// +kubebuilder:validation:Enum=ClusterIP;Headless;NodePort;LoadBalancer;None
type ServiceType string

// The types of Service.
const (
	ServiceTypeClusterIP    ServiceType = "ClusterIP"
	ServiceTypeHeadless     ServiceType = "Headless"
	ServiceTypeNodePort     ServiceType = "NodePort"
	ServiceTypeLoadBalancer ServiceType = "LoadBalancer"
	// ServiceTypeNone is a worker: it has no Service, no ports and no probes of ports.
	ServiceTypeNone ServiceType = "None"
)

// Service is how the application is reached inside the cluster.
type Service struct {
	// Type of the Service: ClusterIP, Headless, NodePort, LoadBalancer, or None for a worker that listens at no port. Default: ClusterIP.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Type",order=1401
	Type ServiceType `json:"type,omitempty"`

	// Annotations of the Service, for example for a cloud's load balancer.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ExposeType is the kind of object that exposes an application.
// +kubebuilder:validation:Enum=Auto;Ingress;HTTPRoute;Route
type ExposeType string

// The types of exposure.
const (
	ExposeTypeAuto      ExposeType = "Auto"
	ExposeTypeIngress   ExposeType = "Ingress"
	ExposeTypeHTTPRoute ExposeType = "HTTPRoute"
	ExposeTypeRoute     ExposeType = "Route"
)

// Expose makes the application reachable from outside the cluster.
type Expose struct {
	// Type of the object that does it: Ingress, HTTPRoute, Route, or Auto, which is the kind that httpRoute, ingress or route below is given for; with none of them, or with ingress and route, it is Route if the cluster has it, else Ingress. What serves already stays until expose asks for something else. Default: Auto.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Type",order=801
	Type ExposeType `json:"type,omitempty"`

	// Hosts are the names that the application is reached at, such as app.example.com or *.example.com. At least one is needed, except for a Route, which is given one.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^([*][.])?[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be a DNS name in lower case such as app.example.com or *.example.com, without scheme, port or path"
	Hosts []string `json:"hosts,omitempty"`

	// Paths that lead to the application. Left out, all do.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Paths []ExposePath `json:"paths,omitempty"`

	// Port is the name of the port that is exposed. Left out, it is the port named http, or else the first TCP port.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Port Name",order=804
	Port string `json:"port,omitempty"`

	// Ingress holds settings of an Ingress.
	// +optional
	Ingress *ExposeIngress `json:"ingress,omitempty"`

	// HTTPRoute names the Gateway of an HTTPRoute.
	// +optional
	HTTPRoute *ExposeHTTPRoute `json:"httpRoute,omitempty"`

	// Route holds settings of a Route. What encrypts is refused where the type is not Route for certain.
	// +optional
	Route *ExposeRoute `json:"route,omitempty"`
}

// PathType is how a path is compared.
// +kubebuilder:validation:Enum=Prefix;Exact
type PathType string

// The types of path.
const (
	PathTypePrefix PathType = "Prefix"
	PathTypeExact  PathType = "Exact"
)

// ExposePath is a path that leads to the application.
type ExposePath struct {
	// Path begins with '/'.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="must begin with '/'"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Path",order=811
	Path string `json:"path"`

	// PathType is Prefix, for the path and all below it, or Exact. Default: Prefix.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Path Type",order=812
	PathType PathType `json:"pathType,omitempty"`
}

// ExposeIngress is what only an Ingress has.
type ExposeIngress struct {
	// ClassName is the IngressClass. Left out, it is the cluster's default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Ingress Class",order=821
	ClassName string `json:"className,omitempty"`

	// TLSSecretName is the Secret with the certificate of the hosts; it may be made later, by cert-manager for example. Left out, the application is reached over HTTP, or with the controller's own certificate.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="TLS Secret",order=822
	TLSSecretName string `json:"tlsSecretName,omitempty"`

	// Annotations of the Ingress. Their keys begin with cert-manager.io/, external-dns.alpha.kubernetes.io/ or another prefix that the platform allows.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ExposeHTTPRoute is what only an HTTPRoute has.
type ExposeHTTPRoute struct {
	// GatewayRef is the Gateway that the route attaches to.
	// +required
	GatewayRef GatewayRef `json:"gatewayRef"`
}

// GatewayRef names a Gateway.
type GatewayRef struct {
	// Name of the Gateway.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Gateway Name",order=841
	Name string `json:"name"`

	// Namespace of the Gateway, which must allow routes from here. Default: the namespace of the EGApp.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Gateway Namespace",order=842
	Namespace string `json:"namespace,omitempty"`

	// SectionName is the listener of the Gateway. Left out, it is every listener that fits.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Gateway Listener",order=843
	SectionName string `json:"sectionName,omitempty"`
}

// RouteTermination is where the encryption of a Route ends.
// +kubebuilder:validation:Enum=Edge;Passthrough;Reencrypt;None
type RouteTermination string

// The terminations of a Route.
const (
	RouteTerminationEdge        RouteTermination = "Edge"
	RouteTerminationPassthrough RouteTermination = "Passthrough"
	RouteTerminationReencrypt   RouteTermination = "Reencrypt"
	RouteTerminationNone        RouteTermination = "None"
)

// RouteInsecurePolicy is what becomes of requests that are not encrypted.
// +kubebuilder:validation:Enum=Redirect;Allow;None
type RouteInsecurePolicy string

// The policies for requests to a Route that are not encrypted.
const (
	RouteInsecurePolicyRedirect RouteInsecurePolicy = "Redirect"
	RouteInsecurePolicyAllow    RouteInsecurePolicy = "Allow"
	RouteInsecurePolicyNone     RouteInsecurePolicy = "None"
)

// ExposeRoute is what only a Route has.
type ExposeRoute struct {
	// Termination is where the encryption ends: Edge, at the router; Passthrough, in the application; Reencrypt, at the router, which encrypts again; None, nothing is encrypted. Default: Edge.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="TLS Termination",order=851
	Termination RouteTermination `json:"termination,omitempty"`

	// InsecurePolicy is what becomes of requests that are not encrypted: Redirect, Allow or None, which refuses them. Default: Redirect; with the termination None there is nothing to choose.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Insecure Requests",order=852
	InsecurePolicy RouteInsecurePolicy `json:"insecurePolicy,omitempty"`
}

// Monitoring lets the Prometheus operator scrape metrics.
type Monitoring struct {
	// Port that serves the metrics, by its name or its containerPort.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=15
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Port",order=2301
	Port string `json:"port"`

	// Path that serves the metrics. Default: /metrics.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="must begin with '/'"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Path",order=2302
	Path string `json:"path,omitempty"`

	// Interval between two scrapes, such as 30s or 1m30s. Default: Prometheus' own.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$')",message="must be a duration with its unit, such as 30s or 1m30s"
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Interval",order=2303
	Interval string `json:"interval,omitempty"`

	// Labels of the ServiceMonitor, by which a Prometheus selects it.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`
}

// Isolation is how far an application is closed.
// +kubebuilder:validation:Enum=Namespace;Listed
type Isolation string

// The isolations.
const (
	// IsolationNamespace lets pods of the same namespace connect, and those that are listed.
	IsolationNamespace Isolation = "Namespace"
	// IsolationListed lets only pods connect that are listed.
	IsolationListed Isolation = "Listed"
)

// NetworkPolicy says who may connect to the application.
type NetworkPolicy struct {
	// Isolation is Namespace, so that pods of the same namespace and those in from may connect, or Listed, so that only those in from may.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Isolation",order=2201
	Isolation Isolation `json:"isolation"`

	// From are the EGApps that may connect.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	From []NetworkPeer `json:"from,omitempty"`
}

// NetworkPeer is an EGApp that may connect.
type NetworkPeer struct {
	// App is the name of the EGApp.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="EGApp",order=2211
	App string `json:"app"`

	// Namespace of that EGApp. Default: the namespace of this one.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Namespace",order=2212
	Namespace string `json:"namespace,omitempty"`
}
