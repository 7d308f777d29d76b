// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// podPatience is after how long a pod that stands still is moved on.
const podPatience = 5 * time.Second

// playPods starts the pods of a namespace that have been on their nodes for a while, and ends those that were to go a while
// ago. A kubelet tries again what it was refused in an outage; KWOK, which plays the kubelets, looks at it again up to a minute
// later or never.
func (s *scene) playPods(ctx context.Context, namespace string) error {
	var pods corev1.PodList
	if err := s.admin.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	var errs []error
	for i := range pods.Items {
		pod := &pods.Items[i]
		scheduled := scheduledAt(pod)
		var err error
		switch {
		case pod.DeletionTimestamp != nil && time.Since(pod.DeletionTimestamp.Time) > podPatience:
			err = s.admin.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
		case pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodPending && !scheduled.IsZero() && time.Since(scheduled) > podPatience:
			before := pod.DeepCopy()
			serve(pod)
			err = s.admin.Status().Patch(ctx, pod, client.MergeFrom(before))
		}
		errs = append(errs, client.IgnoreNotFound(err))
	}
	return errors.Join(errs...)
}

// scheduledAt returns when a pod got its node, or the zero time.
func scheduledAt(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// serve makes the status of a pod that of one whose containers run.
func serve(pod *corev1.Pod) {
	now := metav1.Now()
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	for _, condition := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: true, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
}
