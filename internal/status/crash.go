// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// endedProblem finds a container that has ended and not yet been started again, or was
// but has not served since: between two ends nothing has become better.
func (c container) endedProblem() *podProblem {
	ended, running := c.status.State.Terminated, c.status.State.Running
	switch {
	case ended != nil && ended.ExitCode == 0 && (c.status.Ready || isInit(c.pod, c.status.Name)):
		return nil
	case ended != nil:
		return &podProblem{rank: rankCrashLoop, reason: appstatus.ReasonCrashLoop, message: c.which + " has ended" + c.describeExit(ended)}
	case !c.status.Ready && c.status.LastTerminationState.Terminated != nil && running != nil && !c.servedSince(running.StartedAt):
		return c.endsAgainAndAgain()
	default:
		return nil
	}
}

// servedSince tells whether the pod has served since a time.
func (c container) servedSince(start metav1.Time) bool {
	notReady := podConditionIs(c.pod, corev1.PodReady, corev1.ConditionFalse)
	return notReady != nil && notReady.LastTransitionTime.After(start.Time)
}

func (c container) endsAgainAndAgain() *podProblem {
	ended := c.status.LastTerminationState.Terminated
	if ended == nil {
		return &podProblem{rank: rankCrashLoop, reason: appstatus.ReasonCrashLoop, message: c.which + " ends again and again."}
	}
	if problem := c.startupProblem(ended); problem != nil {
		return problem
	}
	return &podProblem{rank: rankCrashLoop, reason: appstatus.ReasonCrashLoop, message: c.which + " ends again and again" + c.describeExit(ended)}
}

// The exit codes that say more than that something went wrong.
const (
	exitKilled     = 128 + 9
	exitTerminated = 128 + 15
	exitUnstarted  = 255
)

func (c container) describeExit(ended *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf(": exit code %d", ended.ExitCode)
	if ended.Reason != "" {
		text += " (" + ended.Reason + ")"
	}
	if ended.ExitCode == 0 {
		text += ", but a service must keep running"
	}
	text = quoted(text, ended.Message)
	if hint := c.exitHint(ended); hint != "" {
		text += " " + hint
	}
	return text
}

// exitHint tells what to do about an end, where it says so much.
func (c container) exitHint(ended *corev1.ContainerStateTerminated) string {
	switch {
	case ended.Reason == "OOMKilled" && c.isMain && c.workload.Owner.SelectorKey == workload.LabelEGApp:
		return "It needs more memory than its limit: choose a bigger spec.instanceType, or set spec.resources.limits.memory."
	case ended.Reason == "OOMKilled":
		return "It needs more memory than it may have."
	case strings.Contains(ended.Message, "exec format error"):
		return "The image is built for another processor architecture than that of the node."
	case ended.ExitCode == exitUnstarted:
		return "An image that is built for another processor architecture than that of the node ends so, too."
	case (ended.ExitCode == exitKilled || ended.ExitCode == exitTerminated) && c.spec != nil && (c.spec.LivenessProbe != nil || c.spec.StartupProbe != nil):
		return "The kubelet ends a container so when its liveness or startup probe fails."
	default:
		return ""
	}
}
