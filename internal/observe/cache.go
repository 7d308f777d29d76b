// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

var replicaSetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

// ReplicaSetMetadata is the metadata of a ReplicaSet, as an object to be read or watched.
func ReplicaSetMetadata() *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(replicaSetKind)
	return object
}

// CacheOptions limits a cache to the given namespaces (none means all), to the
// operator's own objects, to the applications, and to what those may refer to, and to the
// parts of them that are read: its size hardly depends on what else is in the cluster. The
// kinds that a cluster may lack are limited by default, since a kind that is named here
// must be there at the start.
func CacheOptions(namespaces []string, applications ...client.Object) cache.Options {
	everybodys := labels.Everything()
	options := cache.Options{
		DefaultLabelSelector:        labels.SelectorFromSet(labels.Set{workload.LabelManagedBy: workload.ManagedBy}),
		DefaultTransform:            cache.TransformStripManagedFields(),
		ReaderFailOnMissingInformer: true,
		NewInformer:                 newInformer,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:                            {Transform: stripPod},
			ReplicaSetMetadata():                     {Transform: stripReplicaSet},
			&corev1.ConfigMap{}:                      {Label: everybodys, Transform: stripConfigMap},
			&autoscalingv2.HorizontalPodAutoscaler{}: {Label: everybodys, Transform: stripAutoscaler},
			&corev1.PersistentVolumeClaim{}:          {Label: everybodys, Transform: stripClaim},
			ServiceAccountMetadata():                 {Label: everybodys, Transform: stripServiceAccount},
		},
	}
	for _, application := range applications {
		options.ByObject[application] = cache.ByObject{Label: everybodys}
	}
	if len(namespaces) > 0 {
		options.DefaultNamespaces = map[string]cache.Config{}
		for _, namespace := range namespaces {
			options.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	return options
}
