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

// The kinds of children that more than their rendering looks at.
const (
	// KindDeployment runs the pods.
	KindDeployment = "Deployment"
	// KindHorizontalPodAutoscaler chooses how many pods run.
	KindHorizontalPodAutoscaler = "HorizontalPodAutoscaler"
)

// Observed is what was seen in one look: an owner's children, and what of others bears
// on them.
type Observed struct {
	// Platform is what the cluster is and has.
	Platform Platform
	// Children holds, by kind, the object that has a child's name, whosever it is.
	Children map[string]Object
	// Autoscalers are those of others that scale the owner or its Deployment, in
	// alphabetical order.
	Autoscalers []Autoscaler
	// ConfigMaps holds, by name, those that the workload refers to and that are there.
	ConfigMaps map[string]ConfigMap
	// Claims holds, by name, those that the workload refers to and that are there.
	Claims map[string]Claim
	// ServiceAccountAllowed tells that the ServiceAccount that the workload refers to lets
	// EGApps run as it; ServiceAccountExists that it is there.
	ServiceAccountAllowed, ServiceAccountExists bool
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

// Platform is what a cluster is and has.
type Platform struct {
	// OpenShift chooses the user of a pod itself.
	OpenShift bool
	// Kinds holds the optional kinds of children that the cluster has, for example Route.
	Kinds map[string]bool
}

// Autoscaler is a HorizontalPodAutoscaler of somebody else.
type Autoscaler struct {
	Name string
	// TargetKind is the kind of what it scales, which has the owner's name: the owner's
	// own, or Deployment.
	TargetKind string
	// Problem says why it cannot scale (see ScalingProblem), or is empty.
	Problem string
}

// ConfigMap is what is remembered of a ConfigMap: the hash of each value, by key.
type ConfigMap map[string]string

// Claim is what is remembered of a PersistentVolumeClaim.
type Claim struct {
	// OneNode tells that only one node, or one pod, may use it at a time, be it to read alone.
	OneNode bool
}
