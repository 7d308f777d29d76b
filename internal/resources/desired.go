// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package resources renders a workload as the objects that run it: one file a kind,
// and Kinds is the table of contents. It is pure: the same workload and observation
// give the same objects, byte for byte.
package resources

import (
	routev1 "github.com/openshift/api/route/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/internal/workload"
)

// Child is an object to be applied: exactly the fields that the operator means.
type Child struct {
	// Kind is the Kubernetes kind, for example Deployment.
	Kind string
	// Name of the object, in the namespace of the owner.
	Name string
	// Config is the apply configuration.
	Config runtime.ApplyConfiguration
	// Meta is the metadata inside Config.
	Meta *metav1ac.ObjectMetaApplyConfiguration
	// Replicas, if it is set, is applied as FieldManagerReplicas before Config, so that
	// dropping a number of pods that we owned alone does not reset it to 1. It holds the
	// number and the annotation that goes with it, or nothing, which releases both.
	// Deployments only.
	Replicas *appsv1ac.DeploymentApplyConfiguration
}

// Kind is a kind of child.
type Kind struct {
	// Name is the Kubernetes kind.
	Name string
	// Suffix is what the child's name has after the owner's.
	Suffix string
	// Optional tells that a cluster may lack the API.
	Optional bool
	// Everybodys tells that objects of others are read too, not only the operator's own.
	Everybodys bool
	// New makes an empty object of the kind, to be read into.
	New func() workload.Object
	// render returns the child, or nil when the workload wants none of the kind.
	render func(workload.Workload, workload.Observed) *Child
}

// Kinds are all kinds of children, in the order in which they are applied. What is not
// in it is neither read, watched, made nor pruned.
var Kinds = []Kind{
	{Name: "ConfigMap", Suffix: runtimeEnvSuffix, New: func() workload.Object { return &corev1.ConfigMap{} }, render: runtimeEnv},
	{Name: workload.KindDeployment, New: func() workload.Object { return &appsv1.Deployment{} }, render: deployment},
	{Name: kindService, New: func() workload.Object { return &corev1.Service{} }, render: service},
	{Name: workload.KindHorizontalPodAutoscaler, Everybodys: true, New: func() workload.Object { return &autoscalingv2.HorizontalPodAutoscaler{} }, render: horizontalPodAutoscaler},
	{Name: "PodDisruptionBudget", New: func() workload.Object { return &policyv1.PodDisruptionBudget{} }, render: podDisruptionBudget},
	{Name: "NetworkPolicy", New: func() workload.Object { return &networkingv1.NetworkPolicy{} }, render: networkPolicy},
	{Name: string(workload.ExposureIngress), New: func() workload.Object { return &networkingv1.Ingress{} }, render: ingress},
	{Name: string(workload.ExposureHTTPRoute), Optional: true, New: func() workload.Object { return &gatewayv1.HTTPRoute{} }, render: httpRoute},
	{Name: string(workload.ExposureRoute), Optional: true, New: func() workload.Object { return &routev1.Route{} }, render: route},
	{Name: "ServiceMonitor", Optional: true, New: func() workload.Object { return &ServiceMonitor{} }, render: serviceMonitor},
}

// AddOptionalToScheme adds the types of the optional kinds to a scheme.
func AddOptionalToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(gatewayv1.Install, routev1.Install, addServiceMonitorToScheme)
	return builder.AddToScheme(scheme)
}

// Desired returns the children that the workload wants and the cluster can have, in the
// order of Kinds.
func Desired(w workload.Workload, o workload.Observed) []Child {
	var children []Child
	for _, kind := range Kinds {
		if !kind.isServed(o.Platform) {
			continue
		}
		if child := kind.render(w, o); child != nil {
			child.Kind, child.Name = kind.Name, w.Owner.Name+kind.Suffix
			children = append(children, *child)
		}
	}
	return children
}

func (k Kind) isServed(p workload.Platform) bool { return !k.Optional || p.Kinds[k.Name] }

// Surplus returns the observed children that are the workload's and not desired, in the
// order of Kinds: what is to be pruned.
func Surplus(w workload.Workload, desired []Child, o workload.Observed) []workload.Object {
	wanted := map[string]bool{}
	for _, child := range desired {
		wanted[child.Kind] = true
	}
	var surplus []workload.Object
	for _, kind := range Kinds {
		object := o.Children[kind.Name]
		if object == nil || wanted[kind.Name] || !kind.isServed(o.Platform) || w.StillServes(kind.Name, o) {
			continue
		}
		if w.Owner.OwnershipOf(object) == workload.Ours {
			surplus = append(surplus, object)
		}
	}
	return surplus
}
