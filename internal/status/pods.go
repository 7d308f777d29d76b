// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
)

// listPods returns the names of the pods, which come in alphabetical order, and the
// names by state; both hold at most appstatus.MaxPods names.
func listPods(pods []corev1.Pod) ([]string, map[string][]string) {
	if len(pods) == 0 {
		return nil, nil
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

// hasStoppedServing tells whether a pod has started and yet does not serve.
func hasStoppedServing(pod corev1.Pod) bool {
	isOnItsWay := pod.Status.Phase == corev1.PodPending || slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.RestartCount == 0 && (c.Started == nil || !*c.Started)
	})
	return !isReady(pod) && !isOnItsWay
}

// isStarting tells the waiting reasons of every container that starts.
func isStarting(reason string) bool {
	return reason == "ContainerCreating" || reason == "PodInitializing"
}

// podProblem is what keeps a pod from running.
type podProblem struct {
	rank            int
	reason, message string
}

// The ranks of pod problems: the lower is the earlier on a pod's way to run.
const (
	rankUnschedulable = iota
	rankImagePull
	rankConfigMissing
	rankCrashLoop
	rankContainerStart
)

// firstPodProblem returns the problem of the lowest rank, of the first pod that has it,
// or nil. main is the name of the application's container.
func firstPodProblem(pods []corev1.Pod, main string) *podProblem {
	var first *podProblem
	for _, pod := range pods {
		for _, problem := range podProblems(pod, main) {
			if first == nil || problem.rank < first.rank {
				first = &problem
			}
		}
	}
	return first
}

func podProblems(pod corev1.Pod, main string) []podProblem {
	var problems []podProblem
	if c := podConditionIs(pod, corev1.PodScheduled, corev1.ConditionFalse); c != nil && c.Reason == corev1.PodReasonUnschedulable {
		problems = append(problems, podProblem{rankUnschedulable, appstatus.ReasonUnschedulable,
			fmt.Sprintf("Pod %s cannot be scheduled: %s", pod.Name, c.Message)})
	}
	for _, c := range containers(pod) {
		if problem := containerProblem(describeContainer(pod, c.Name, main), c, servedSince(pod)); problem != nil {
			problems = append(problems, *problem)
		}
	}
	return problems
}

// containers returns the status of all containers, those that run first first.
func containers(pod corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// describeContainer says which container of which pod it is, and what it is there for.
func describeContainer(pod corev1.Pod, name, main string) string {
	is := func(c corev1.ContainerStatus) bool { return c.Name == name }
	role := "sidecar"
	switch {
	case name == main:
		role = "container"
	case slices.ContainsFunc(pod.Status.InitContainerStatuses, is) && !isRestartable(pod, name):
		role = "init container"
	}
	return fmt.Sprintf("Pod %s, %s %s", pod.Name, role, name)
}

// isRestartable tells whether an init container keeps running beside the others.
func isRestartable(pod corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// servedSince returns a function that tells whether the pod has served since a time.
func servedSince(pod corev1.Pod) func(metav1.Time) bool {
	return func(start metav1.Time) bool {
		notReady := podConditionIs(pod, corev1.PodReady, corev1.ConditionFalse)
		return notReady != nil && notReady.LastTransitionTime.After(start.Time)
	}
}

func containerProblem(which string, c corev1.ContainerStatus, servedSince func(metav1.Time) bool) *podProblem {
	waiting := c.State.Waiting
	if waiting == nil {
		return endedProblem(which, c, servedSince)
	}
	switch waiting.Reason {
	case "", "ContainerCreating", "PodInitializing":
		return nil
	case "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
		return &podProblem{rankImagePull, appstatus.ReasonImagePullFailed,
			fmt.Sprintf("%s: image %s: %s: %s", which, c.Image, waiting.Reason, waiting.Message)}
	case "CreateContainerConfigError":
		return &podProblem{rankConfigMissing, appstatus.ReasonConfigMissing, fmt.Sprintf("%s: %s", which, waiting.Message)}
	case "CrashLoopBackOff":
		return &podProblem{rankCrashLoop, appstatus.ReasonCrashLoop, which + " ends again and again" + lastExit(c)}
	default:
		return &podProblem{rankContainerStart, appstatus.ReasonContainerStartFailed, fmt.Sprintf("%s: %s: %s", which, waiting.Reason, waiting.Message)}
	}
}

// endedProblem finds a container that has ended and not yet been started again, or was
// but has not served since: between two ends nothing has become better.
func endedProblem(which string, c corev1.ContainerStatus, servedSince func(metav1.Time) bool) *podProblem {
	ended, running := c.State.Terminated, c.State.Running
	switch {
	case ended != nil && ended.ExitCode == 0 && c.Ready:
		return nil
	case ended != nil:
		return &podProblem{rankCrashLoop, appstatus.ReasonCrashLoop, which + " has ended" + describeExit(ended)}
	case !c.Ready && c.LastTerminationState.Terminated != nil && running != nil && !servedSince(running.StartedAt):
		return &podProblem{rankCrashLoop, appstatus.ReasonCrashLoop, which + " ends again and again" + lastExit(c)}
	default:
		return nil
	}
}

func lastExit(c corev1.ContainerStatus) string {
	if ended := c.LastTerminationState.Terminated; ended != nil {
		return describeExit(ended)
	}
	return "."
}

func describeExit(ended *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf(": exit code %d", ended.ExitCode)
	if ended.Reason != "" {
		text += " (" + ended.Reason + ")"
	}
	if ended.ExitCode == 0 {
		text += ", but a service must keep running"
	}
	if ended.Message != "" {
		text += ": " + ended.Message
	}
	return text + "."
}
