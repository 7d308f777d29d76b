// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
)

// listPods returns the names of the pods, which come in alphabetical order, and the
// names by state; both hold at most appstatus.MaxPods names.
func listPods(pods []corev1.Pod) ([]string, map[string][]string) {
	if len(pods) == 0 {
		return nil, map[string][]string{}
	}
	pods = pods[:min(len(pods), appstatus.MaxPods)]
	names, byState := make([]string, 0, len(pods)), map[string][]string{}
	for _, pod := range pods {
		names = append(names, pod.Name)
		state := podState(pod)
		byState[state] = append(byState[state], pod.Name)
	}
	return names, byState
}

func podState(pod corev1.Pod) string {
	switch {
	case pod.DeletionTimestamp != nil:
		return "Terminating"
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return string(pod.Status.Phase)
	}
	for _, c := range containers(pod) {
		if w := c.State.Waiting; w != nil && w.Reason != "" && !isStarting(w.Reason) {
			return w.Reason
		}
	}
	switch {
	case isReady(pod):
		return "Running"
	case pod.Status.Phase == corev1.PodPending:
		return "Pending"
	default:
		return "NotReady"
	}
}

// isActive tells whether a pod runs or will run: one that has ended, was evicted or is
// being deleted says nothing about the application.
func isActive(pod corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

func isReady(pod corev1.Pod) bool {
	return podConditionIs(pod, corev1.PodReady, corev1.ConditionTrue) != nil
}

func podConditionIs(pod corev1.Pod, conditionType corev1.PodConditionType, status corev1.ConditionStatus) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == conditionType && c.Status == status {
			return c
		}
	}
	return nil
}

// hasStoppedServing tells whether a pod does not serve and is not on its way to: it had
// started, or one of its containers, of whatever role, ends again and again.
func hasStoppedServing(pod corev1.Pod) bool {
	if isReady(pod) {
		return false
	}
	isOnItsWay := pod.Status.Phase == corev1.PodPending || slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.RestartCount == 0 && !isTrue(c.Started)
	})
	return !isOnItsWay || slices.ContainsFunc(containers(pod), endsBeforeItServes)
}

// endsBeforeItServes tells whether a container was started more than once and has not come
// to serve since, or to its end if it is to have one.
func endsBeforeItServes(c corev1.ContainerStatus) bool {
	return c.RestartCount > 0 && !c.Ready && !isTrue(c.Started)
}

// isStarting tells the waiting reasons of every container that starts.
func isStarting(reason string) bool {
	return reason == "" || reason == "ContainerCreating" || reason == "PodInitializing"
}

// containers returns the status of all containers, those that run first first.
func containers(pod corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// isInit tells whether a container ends before the others start.
func isInit(pod corev1.Pod, name string) bool {
	is := func(c corev1.ContainerStatus) bool { return c.Name == name }
	return slices.ContainsFunc(pod.Status.InitContainerStatuses, is) && !isRestartable(pod, name)
}

// isRestartable tells whether an init container keeps running beside the others.
func isRestartable(pod corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}
