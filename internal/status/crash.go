// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"regexp"
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

// reasonOOMKilled is the kubelet's word for a container that needed more memory than it may have.
const reasonOOMKilled = "OOMKilled"

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
	switch {
	case ended.ExitCode == 0 && c.mayHaveFailedLiveness(ended):
		text += ". Either it ended by itself, but a service must keep running, or the kubelet ended it since its liveness probe" + describeProbe(c.spec.LivenessProbe) + " failed"
	case ended.ExitCode == 0:
		text += ", but a service must keep running"
	}
	text = quoted(text, lastWords(ended))
	if hint := c.exitHint(ended); hint != "" {
		text += " " + hint
	}
	return text
}

// mayHaveFailedLiveness tells whether a container ran for long enough for its liveness probe
// to fail: whether it did is told by events alone.
func (c container) mayHaveFailedLiveness(ended *corev1.ContainerStateTerminated) bool {
	if c.spec == nil || c.spec.LivenessProbe == nil || ended.StartedAt.IsZero() {
		return false
	}
	probe := c.spec.LivenessProbe
	return ended.FinishedAt.Unix()-ended.StartedAt.Unix() >= budgetOf(probe)-int64(periodOf(probe)+timeoutOf(probe))
}

// maxLastWords is the longest part of a log that a message holds.
const maxLastWords = 300

// causeOfEnd begins the line in which a runtime says why it ends: what follows it is a trace.
var causeOfEnd = regexp.MustCompile("^(panic: |fatal error: |Exception in thread |Caused by: )")

// lastWords returns what a container left about its end. If that is the end of its log, it is
// the line that says why, or else the last one. What was killed had no time for words.
func lastWords(ended *corev1.ContainerStateTerminated) string {
	switch ended.Reason {
	case reasonOOMKilled:
		return ""
	case "StartError", "ContainerCannotRun":
		return ended.Message
	}
	var last, cause string
	for line := range strings.Lines(ended.Message) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if last = line; causeOfEnd.MatchString(line) {
			cause = line
		}
	}
	if cause != "" {
		last = cause
	}
	if len(last) > maxLastWords {
		// A cut may fall into the middle of a character.
		last = strings.ToValidUTF8(last[:maxLastWords], "") + "..."
	}
	return last
}

// exitHint tells what to do about an end, where it says so much.
func (c container) exitHint(ended *corev1.ContainerStateTerminated) string {
	switch {
	case ended.Reason == reasonOOMKilled && c.isMain && c.workload.Owner.SelectorKey == workload.LabelEGApp:
		return "It needs more memory than its limit: choose a bigger spec.instanceType, or set spec.resources.limits.memory."
	case ended.Reason == reasonOOMKilled:
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
