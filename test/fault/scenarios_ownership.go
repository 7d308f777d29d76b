// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// ownership are the scenarios in which objects of others have to do with an application: in its way, or scaling it.
func ownership(s subject) []Scenario {
	return []Scenario{
		{
			Kind: s.kind, Name: "name-taken",
			Before: []Step{create("Deployment", func() client.Object { return foreignDeployment(s) }, has("Deployment", orders, 1, "status", "availableReplicas"))},
			Steps: []Step{
				create(s.kind, s.newApp, reports(s.kind, orders, appstatus.ReasonNameConflict)),
				remove("Deployment", orders, s.runsAll(image1, 1)),
			},
		},
		{
			Kind: s.kind, Name: "adoption",
			Before: []Step{create("Deployment", func() client.Object { return foreignDeployment(s) }, has("Deployment", orders, 1, "status", "availableReplicas"))},
			Steps: []Step{
				create(s.kind, s.newApp, reports(s.kind, orders, appstatus.ReasonNameConflict)),
				patchAs(user, "Deployment", orders, types.MergePatchType, `{"metadata":{"annotations":{"`+workload.AnnotationAdoptBy+`":"`+orders+`"}}}`,
					s.runsAll(image1, 1)),
			},
		},
		{
			Kind: s.kind, Name: "foreign-autoscaler", Before: []Step{s.created()},
			Steps: []Step{
				create("HorizontalPodAutoscaler", foreignAutoscaler, s.runsAll(image1, 1)),
				scale(autoscaler, orders, 3, s.runsAll(image1, 3)),
				remove("HorizontalPodAutoscaler", "their-"+orders, s.runsAll(image1, 3)),
			},
		},
		{
			Kind: s.kind, Name: "bad-spec", Before: []Step{s.created()},
			Steps: []Step{
				edit(s.kind, orders, `{"spec":{"image":"`+badImage+`"}}`, all(reports(s.kind, orders, appstatus.ReasonInvalidSpec), container(orders, image1, 1))),
				edit(s.kind, orders, `{"spec":{"image":"`+image2+`"}}`, s.runsAll(image2, 1)),
			},
		},
	}
}

// foreignDeployment returns a Deployment of somebody else that has the name of the application and pods that it could adopt.
func foreignDeployment(s subject) client.Object {
	labels := map[string]string{workload.LabelEGApp: orders}
	if s.kind == DemoMicroService {
		labels = map[string]string{workload.LabelDemoMicroService: orders}
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: orders},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: orders, Image: "registry.example.com/other:1"}}},
			},
		},
	}
}

// foreignAutoscaler returns an autoscaler of a user's own for the Deployment.
func foreignAutoscaler() client.Object {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "their-" + orders},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: orders},
			MinReplicas:    new(int32(1)), MaxReplicas: 5,
			Metrics: []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ResourceMetricSourceType,
				Resource: &autoscalingv2.ResourceMetricSource{
					Name:   corev1.ResourceCPU,
					Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(70))},
				},
			}},
		},
	}
}
