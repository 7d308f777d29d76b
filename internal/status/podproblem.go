// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
)

// podProblem is what keeps a pod from running.
type podProblem struct {
	rank            int
	reason, message string
	// since is the Unix time from which on it is a problem; 0 means that it is one.
	since int64
}

// The ranks of pod problems: the lower is the earlier on a pod's way to run.
const (
	rankUnschedulable = iota
	rankImagePull
	rankConfigMissing
	rankCrashLoop
	rankContainerStart
	rankNotStarted
	rankProbe
)

// podFailure names the problem of the lowest rank, of the first pod that has it.
func podFailure(f facts) *cause {
	var first *podProblem
	for _, pod := range f.pods {
		for _, problem := range f.podProblems(pod) {
			if problem.since <= f.now.Unix() && (first == nil || problem.rank < first.rank) {
				first = &problem
			}
		}
	}
	if first == nil {
		return nil
	}
	return &cause{reason: first.reason, message: first.message, phase: appstatus.PhaseDegraded}
}

// recheckAfter returns the seconds until the first of what may become a problem by the
// passing of time does, or 0 if there is none.
func (f facts) recheckAfter() int64 {
	var first int64
	for _, pod := range f.pods {
		for _, problem := range f.podProblems(pod) {
			if left := problem.since - f.now.Unix(); left > 0 && (first == 0 || left < first) {
				first = left
			}
		}
	}
	return first
}

func (f facts) podProblems(pod corev1.Pod) []podProblem {
	if isReady(pod) && allContainersAreReady(pod) {
		return nil
	}
	if c := podConditionIs(pod, corev1.PodScheduled, corev1.ConditionFalse); c != nil && c.Reason != "" {
		return []podProblem{{rank: rankUnschedulable, reason: appstatus.ReasonUnschedulable,
			message: quoted(fmt.Sprintf("Pod %s cannot be scheduled", pod.Name), c.Message)}}
	}
	var problems []podProblem
	for _, status := range containers(pod) {
		c := f.describe(pod, status)
		for _, problem := range []*podProblem{c.waitingProblem(), c.endedProblem(), c.probeProblem()} {
			if problem != nil {
				problems = append(problems, *problem)
			}
		}
	}
	return append(problems, f.startProblems(pod)...)
}

func allContainersAreReady(pod corev1.Pod) bool {
	isNotReady := func(c corev1.ContainerStatus) bool { return !c.Ready }
	return !slices.ContainsFunc(pod.Status.InitContainerStatuses, isNotReady) && !slices.ContainsFunc(pod.Status.ContainerStatuses, isNotReady)
}

// container is one of a pod, together with what is known of it.
type container struct {
	facts
	pod    corev1.Pod
	status corev1.ContainerStatus
	// spec is the container in the pod template, or nil if somebody else put it into the pod.
	spec *corev1.Container
	// which says which container of which pod it is, and what it is there for.
	which string
	// isMain tells that it is the application's.
	isMain bool
}

func (f facts) describe(pod corev1.Pod, status corev1.ContainerStatus) container {
	c := container{facts: f, pod: pod, status: status, spec: f.templateContainer(status.Name), isMain: status.Name == mainContainer(f.deployment)}
	role := "sidecar"
	switch {
	case c.isMain:
		role = "container"
	case isInit(pod, status.Name):
		role = "init container"
	}
	c.which = fmt.Sprintf("Pod %s, %s %s", pod.Name, role, status.Name)
	return c
}

func (f facts) templateContainer(name string) *corev1.Container {
	spec := &f.deployment.Spec.Template.Spec
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// waitingProblem is what the kubelet says about a container that it cannot start.
func (c container) waitingProblem() *podProblem {
	waiting := c.status.State.Waiting
	if waiting == nil || isStarting(waiting.Reason) {
		return nil
	}
	switch waiting.Reason {
	case "CrashLoopBackOff":
		return c.endsAgainAndAgain()
	case "RunContainerError":
		return c.notRunProblem(waiting)
	case "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
		return &podProblem{rank: rankImagePull, reason: appstatus.ReasonImagePullFailed, message: c.imageMessage(waiting)}
	case "CreateContainerConfigError":
		return &podProblem{rank: rankConfigMissing, reason: appstatus.ReasonConfigMissing, message: quoted(c.which, waiting.Message)}
	default:
		return c.notStartedProblem(waiting)
	}
}

func (c container) notStartedProblem(waiting *corev1.ContainerStateWaiting) *podProblem {
	return &podProblem{rank: rankContainerStart, reason: appstatus.ReasonContainerStartFailed, message: quoted(c.which+": "+waiting.Reason, waiting.Message)}
}

// notRunProblem is a container that was made and cannot be run. From the second time on the
// kubelet says so and CrashLoopBackOff by turns, maybe without a word: then its end tells why.
func (c container) notRunProblem(waiting *corev1.ContainerStateWaiting) *podProblem {
	ended := c.status.LastTerminationState.Terminated
	if ended != nil && (waiting.Message == "" || ended.Reason == "StartError") {
		return c.endsAgainAndAgain()
	}
	return c.notStartedProblem(waiting)
}

// imageMessage names the image and, since the kubelet does not tell that one is missing,
// the Secrets that it is pulled with.
func (c container) imageMessage(waiting *corev1.ContainerStateWaiting) string {
	message := quoted(fmt.Sprintf("%s: image %s: %s", c.which, c.image(), waiting.Reason), waiting.Message)
	var secrets []string
	for _, secret := range c.deployment.Spec.Template.Spec.ImagePullSecrets {
		secrets = append(secrets, secret.Name)
	}
	switch len(secrets) {
	case 0:
		return message
	case 1:
		return fmt.Sprintf("%s It is pulled with the Secret %s: see whether it is there and right.", message, secrets[0])
	default:
		return fmt.Sprintf("%s It is pulled with the Secrets %s: see whether they are there and right.", message, strings.Join(secrets, ", "))
	}
}

// image is what the template asks for, to the letter: the status may hold another spelling.
func (c container) image() string {
	if c.spec != nil && c.spec.Image != "" {
		return c.spec.Image
	}
	return c.status.Image
}
