// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

// The kinds of application.
const (
	EGApp            = "EGApp"
	DemoMicroService = "DemoMicroService"
)

// recordedKinds are all kinds that a plan may change an object of, by the name of the kind. What the control plane makes
// beside them, such as events and endpoints, follows from them.
var recordedKinds = map[string]schema.GroupVersionResource{
	EGApp:                     v1alpha1.GroupVersion.WithResource("egapps"),
	DemoMicroService:          devopsv1.GroupVersion.WithResource("demomicroservices"),
	"ConfigMap":               {Version: "v1", Resource: "configmaps"},
	"Service":                 {Version: "v1", Resource: "services"},
	"Pod":                     {Version: "v1", Resource: "pods"},
	"Deployment":              {Group: "apps", Version: "v1", Resource: "deployments"},
	"ReplicaSet":              {Group: "apps", Version: "v1", Resource: "replicasets"},
	"HorizontalPodAutoscaler": {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	"PodDisruptionBudget":     {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	"NetworkPolicy":           {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	"Ingress":                 {Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	"HTTPRoute":               {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"},
	"Route":                   {Group: "route.openshift.io", Version: "v1", Resource: "routes"},
	"ServiceMonitor":          {Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"},
}

// rootCA is a ConfigMap that the control plane puts into every namespace.
const rootCA = "kube-root-ca.crt"

// childKinds are the kinds of children.
var childKinds = []string{
	"ConfigMap", "Deployment", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", "Ingress", "HTTPRoute", "Route",
	"ServiceMonitor",
}
