// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
)

// assumedBudget is how many seconds a container may run without being ready if its probe
// is not known, since somebody else put the container into the pod.
const assumedBudget = 60

// endBudget is how many seconds a container may take, beside its grace period, to be
// ended after its startup probe has failed.
const endBudget = 30

// probeProblem infers from how long a container runs without being ready that its probe
// fails: a pod does not tell what the kubelet sees.
func (c container) probeProblem() *podProblem {
	running := c.status.State.Running
	if running == nil || c.status.Ready || running.StartedAt.IsZero() || isInit(c.pod, c.status.Name) {
		return nil
	}
	name, probe, budget := "startup", c.startupProbe(), c.startupBudget()
	if isTrue(c.status.Started) {
		name, probe = "readiness", c.readinessProbe()
		if c.servedSince(running.StartedAt) {
			return &podProblem{
				rank: rankProbe, reason: appstatus.ReasonProbeFailing,
				message: fmt.Sprintf("%s runs, but its readiness probe%s fails.", c.which, describeProbe(probe)),
			}
		}
		// When the startup probe succeeded is not told: it may have been at the last moment.
		budget += budgetOf(probe)
	}
	if probe == nil {
		budget = max(budget, assumedBudget)
	}
	return &podProblem{
		rank: rankProbe, reason: appstatus.ReasonProbeFailing, since: running.StartedAt.Unix() + budget,
		message: fmt.Sprintf("%s runs, but its %s probe%s has not succeeded within the %d seconds that it has at most.", c.which, name, describeProbe(probe), budget),
	}
}

// startupProblem tells that the kubelet ended a container because its startup probe had
// failed for as long as it may: the container ran for just that time.
func (c container) startupProblem(ended *corev1.ContainerStateTerminated) *podProblem {
	probe := c.startupProbe()
	if probe == nil || isTrue(c.status.Started) || ended.Reason == reasonOOMKilled {
		return nil
	}
	if ended.ExitCode != 0 && ended.ExitCode != exitKilled && ended.ExitCode != exitTerminated {
		return nil
	}
	ran, budget := ended.FinishedAt.Unix()-ended.StartedAt.Unix(), budgetOf(probe)
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if seconds := c.deployment.Spec.Template.Spec.TerminationGracePeriodSeconds; seconds != nil {
		grace = *seconds
	}
	if ended.StartedAt.IsZero() || ran < budget-int64(periodOf(probe)+timeoutOf(probe)) || ran > budget+grace+endBudget {
		return nil
	}
	return &podProblem{
		rank: rankCrashLoop, reason: appstatus.ReasonProbeFailing,
		message: fmt.Sprintf("%s is ended again and again after %d seconds, in which its startup probe%s has not succeeded%s",
			c.which, ran, describeProbe(probe), c.describeKill(ended)),
	}
}

// describeKill tells how a container ended that the kubelet ended: not for a fault of its own.
func (c container) describeKill(ended *corev1.ContainerStateTerminated) string {
	return quoted(fmt.Sprintf(" (exit code %d)", ended.ExitCode), ended.Message)
}

func (c container) startupProbe() *corev1.Probe {
	if c.spec == nil {
		return nil
	}
	return c.spec.StartupProbe
}

func (c container) readinessProbe() *corev1.Probe {
	if c.spec == nil {
		return nil
	}
	return c.spec.ReadinessProbe
}

func (c container) startupBudget() int64 {
	return budgetOf(c.startupProbe())
}

// budgetOf returns how many seconds may pass before a probe has failed for good.
func budgetOf(probe *corev1.Probe) int64 {
	if probe == nil {
		return 0
	}
	return int64(probe.InitialDelaySeconds) + int64(orDefault(probe.FailureThreshold, 3))*int64(periodOf(probe)) + int64(timeoutOf(probe))
}

func periodOf(probe *corev1.Probe) int32  { return orDefault(probe.PeriodSeconds, 10) }
func timeoutOf(probe *corev1.Probe) int32 { return orDefault(probe.TimeoutSeconds, 1) }

// orDefault returns a number, or what the API server makes of 0.
func orDefault(n, preset int32) int32 {
	if n == 0 {
		return preset
	}
	return n
}

// describeProbe says what a probe asks, in brackets, or nothing if that is not known.
func describeProbe(probe *corev1.Probe) string {
	switch {
	case probe == nil:
		return ""
	case probe.HTTPGet != nil:
		return fmt.Sprintf(" (HTTP GET %s at port %s)", probe.HTTPGet.Path, probe.HTTPGet.Port.String())
	case probe.TCPSocket != nil:
		return fmt.Sprintf(" (TCP port %s)", probe.TCPSocket.Port.String())
	case probe.GRPC != nil:
		return fmt.Sprintf(" (gRPC port %d)", probe.GRPC.Port)
	case probe.Exec != nil:
		return " (a command)"
	default:
		return ""
	}
}
