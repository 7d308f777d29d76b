// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/internal/workload"
)

// stripPod keeps of a pod what the status is computed from.
func stripPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	stripped := &corev1.Pod{
		TypeMeta:   pod.TypeMeta,
		ObjectMeta: stripMetadata(pod.ObjectMeta, nil),
		Spec: corev1.PodSpec{
			NodeName:       pod.Spec.NodeName,
			InitContainers: stripInitContainers(pod.Spec.InitContainers),
		},
		Status: corev1.PodStatus{
			Phase:                 pod.Status.Phase,
			Conditions:            pod.Status.Conditions,
			InitContainerStatuses: stripContainers(pod.Status.InitContainerStatuses),
			ContainerStatuses:     stripContainers(pod.Status.ContainerStatuses),
		},
	}
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == "Evicted" {
		stripped.Status.Reason = pod.Status.Reason
		// A cut may fall into the middle of a character.
		stripped.Status.Message = strings.ToValidUTF8(pod.Status.Message[:min(len(pod.Status.Message), maxEvictionMessage)], "")
	}
	return stripped, nil
}

// maxEvictionMessage is how much is kept of what a node says about an eviction. Pods that were
// evicted may stay for long.
const maxEvictionMessage = 256

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
