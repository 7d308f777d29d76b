// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/resources"
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
// operator's own objects, and to the parts of them that are read: its size does not
// depend on what else is in the cluster.
func CacheOptions(namespaces []string) cache.Options {
	ours := labels.SelectorFromSet(labels.Set{workload.LabelManagedBy: workload.ManagedBy})
	options := cache.Options{
		DefaultTransform:            cache.TransformStripManagedFields(),
		ReaderFailOnMissingInformer: true,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:        {Label: ours, Transform: stripPod},
			ReplicaSetMetadata(): {Label: ours, Transform: stripReplicaSet},
		},
	}
	for _, kind := range resources.Kinds {
		options.ByObject[kind.New()] = cache.ByObject{Label: ours}
	}
	if len(namespaces) > 0 {
		options.DefaultNamespaces = map[string]cache.Config{}
		for _, namespace := range namespaces {
			options.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	return options
}

// ownerIndex is the index of pods and ReplicaSets by the application that they run.
const ownerIndex = "platformapp-owner"

func ownerIndexKey(selectorKey, name string) string { return selectorKey + "=" + name }

// IndexFields adds the indexes that Read uses. It must run before the cache starts.
func IndexFields(ctx context.Context, indexer client.FieldIndexer) error {
	byOwner := func(object client.Object) []string {
		var keys []string
		for _, selectorKey := range []string{workload.LabelEGApp, workload.LabelDemoMicroService} {
			if name, ok := object.GetLabels()[selectorKey]; ok {
				keys = append(keys, ownerIndexKey(selectorKey, name))
			}
		}
		return keys
	}
	for _, object := range []client.Object{&corev1.Pod{}, ReplicaSetMetadata()} {
		if err := indexer.IndexField(ctx, object, ownerIndex, byOwner); err != nil {
			return err
		}
	}
	return nil
}

// stripPod keeps of a pod what the status is computed from.
func stripPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	return &corev1.Pod{
		TypeMeta:   pod.TypeMeta,
		ObjectMeta: stripMetadata(pod.ObjectMeta, nil),
		Spec:       corev1.PodSpec{InitContainers: stripInitContainers(pod.Spec.InitContainers)},
		Status: corev1.PodStatus{
			Phase:                 pod.Status.Phase,
			Conditions:            pod.Status.Conditions,
			InitContainerStatuses: stripContainers(pod.Status.InitContainerStatuses),
			ContainerStatuses:     stripContainers(pod.Status.ContainerStatuses),
		},
	}, nil
}

// stripInitContainers keeps what tells an init container from a sidecar.
func stripInitContainers(containers []corev1.Container) []corev1.Container {
	var out []corev1.Container
	for _, c := range containers {
		out = append(out, corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy})
	}
	return out
}

func stripContainers(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, s := range statuses {
		out = append(out, corev1.ContainerStatus{
			Name: s.Name, State: s.State, LastTerminationState: s.LastTerminationState,
			Ready: s.Ready, Started: s.Started, RestartCount: s.RestartCount, Image: s.Image,
		})
	}
	return out
}

// stripReplicaSet keeps of a ReplicaSet's metadata whose it is and its revision.
func stripReplicaSet(object any) (any, error) {
	replicaSet, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	annotations := map[string]string{}
	if revision, ok := replicaSet.Annotations[workload.AnnotationRevision]; ok {
		annotations[workload.AnnotationRevision] = revision
	}
	return &metav1.PartialObjectMetadata{
		TypeMeta:   replicaSet.TypeMeta,
		ObjectMeta: stripMetadata(replicaSet.ObjectMeta, annotations),
	}, nil
}

// stripMetadata keeps the identity of an object, whose it is and how it is found.
func stripMetadata(m metav1.ObjectMeta, annotations map[string]string) metav1.ObjectMeta {
	kept := map[string]string{}
	for _, key := range []string{workload.LabelManagedBy, workload.LabelEGApp, workload.LabelDemoMicroService} {
		if value, ok := m.Labels[key]; ok {
			kept[key] = value
		}
	}
	return metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
		DeletionTimestamp: m.DeletionTimestamp, OwnerReferences: m.OwnerReferences,
		Labels: kept, Annotations: annotations,
	}
}
