// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

// theirs are the labels of what others have, by which nothing of an application is selected.
var theirs = map[string]string{"app": "theirs"}

// foreignObject returns an object of somebody else of a kind of child, by the name that an application's child would have.
// It has nothing to do with the application.
func foreignObject(kind string) (client.Object, error) {
	selector := &metav1.LabelSelector{MatchLabels: theirs}
	meta := metav1.ObjectMeta{Name: childName(kind), Labels: theirs}
	switch kind {
	case "ConfigMap":
		return &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"theirs": "1"}}, nil
	case workload.KindDeployment:
		return &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)), Selector: selector,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: theirs},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "theirs", Image: "registry.example.com/theirs:1"}}},
			},
		}}, nil
	case "Service":
		return &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Selector: theirs, Ports: []corev1.ServicePort{{Name: "theirs", Port: 7}},
		}}, nil
	case workload.KindHorizontalPodAutoscaler:
		return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			MaxReplicas: 2,
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
				APIVersion: "apps/v1", Kind: workload.KindDeployment, Name: "theirs",
			},
		}}, nil
	case "PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{
			Selector: selector, MaxUnavailable: new(intstr.FromInt32(7)),
		}}, nil
	case "NetworkPolicy":
		return &networkingv1.NetworkPolicy{ObjectMeta: meta, Spec: networkingv1.NetworkPolicySpec{PodSelector: *selector}}, nil
	case "Ingress":
		return &networkingv1.Ingress{ObjectMeta: meta, Spec: networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{
			Service: &networkingv1.IngressServiceBackend{Name: "theirs", Port: networkingv1.ServiceBackendPort{Number: 7}},
		}}}, nil
	default:
		return nil, fmt.Errorf("nobody else has a %s", kind)
	}
}

// lookalike returns a Deployment of somebody else whose pods have the labels of the application's.
func lookalike(s subject) client.Object {
	deployment := foreignDeployment(s)
	deployment.SetName("theirs")
	if d, ok := deployment.(*appsv1.Deployment); ok {
		d.Spec.Template.Labels[workload.LabelManagedBy] = workload.ManagedBy
	}
	return deployment
}

// childName is the name of the application's child of a kind.
func childName(kind string) string {
	if kind == "ConfigMap" {
		return orders + "-runtime-env"
	}
	return orders
}

// createForeign are the steps in which somebody takes the names of children.
func createForeign(kinds ...string) []Step {
	var steps []Step
	for _, kind := range kinds {
		steps = append(steps, create(kind, func() client.Object {
			object, err := foreignObject(kind)
			if err != nil {
				panic(err)
			}
			return object
		}, nil))
	}
	return steps
}

// isForeign holds while an object is as somebody else made it: the operator has not written it.
func isForeign(kind, name string) check {
	return func(v View) error {
		object := v.Get(kind, name)
		if object == nil {
			return fmt.Errorf("there is no %s %s of somebody else", kind, name)
		}
		for _, entry := range object.GetManagedFields() {
			if entry.Manager == workload.FieldManager || entry.Manager == workload.FieldManagerReplicas {
				return fmt.Errorf("the operator has written the %s %s of somebody else", kind, name)
			}
		}
		return nil
	}
}
