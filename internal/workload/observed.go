// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Object is any Kubernetes object.
type Object interface {
	metav1.Object
	runtime.Object
}

// KindDeployment is the kind of the child that runs the pods.
const KindDeployment = "Deployment"

// Observed is what was seen of an owner's children in one look.
type Observed struct {
	// Children holds, by kind, the object that has a child's name, whosever it is.
	Children map[string]Object
	// ReplicaSets are the metadata of those that the owner's Deployment controls.
	ReplicaSets []metav1.PartialObjectMetadata
	// Pods are those that ReplicaSets control, in alphabetical order.
	Pods []corev1.Pod
}

// Deployment returns the Deployment that has the owner's name, or nil.
func (o Observed) Deployment() *appsv1.Deployment {
	deployment, _ := o.Children[KindDeployment].(*appsv1.Deployment)
	return deployment
}

// AnnotationRevision is where the Deployment controller numbers its ReplicaSets.
const AnnotationRevision = "deployment.kubernetes.io/revision"

// CurrentPods returns the pods of the Deployment's newest ReplicaSet: what runs the
// present pod template. Pods of older ReplicaSets are on their way out.
func (o Observed) CurrentPods() []corev1.Pod {
	deployment := o.Deployment()
	if deployment == nil {
		return nil
	}
	current := map[types.UID]bool{}
	for _, rs := range o.ReplicaSets {
		if rs.Annotations[AnnotationRevision] == deployment.Annotations[AnnotationRevision] {
			current[rs.UID] = true
		}
	}
	var pods []corev1.Pod
	for _, pod := range o.Pods {
		if controller := metav1.GetControllerOfNoCopy(&pod); controller != nil && current[controller.UID] {
			pods = append(pods, pod)
		}
	}
	return pods
}
