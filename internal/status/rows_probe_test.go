// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"platformapp/api/appstatus"
)

func httpProbe(path string, period, threshold int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http")}},
		PeriodSeconds: period, FailureThreshold: threshold, TimeoutSeconds: 1,
	}
}

// probed gives the application's container probes; nil leaves one out.
func probed(startup, readiness *corev1.Probe) func(*scene) {
	return func(s *scene) {
		c := &s.deployment.Spec.Template.Spec.Containers[0]
		c.StartupProbe, c.ReadinessProbe = startup, readiness
	}
}

func probeRows() []row {
	startup, readiness := httpProbe("/started", 5, 12), httpProbe("/ready", 10, 3) // 61 and 31 seconds
	waits := func(recheck int64) want {
		return want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, image: oldImage, recheck: recheck}
	}
	fails := func(says ...string) want {
		return want{reason: appstatus.ReasonProbeFailing, phase: appstatus.PhaseDegraded, reconciling: true, image: oldImage, says: says}
	}
	documented := fails("Pod orders-2-000, container app runs, but its startup probe (HTTP GET /started at port http) has not succeeded within the 61 seconds")
	documented.documented = true
	// The others wait for it: that they do not start is worth another look by itself.
	injected := fails("sidecar proxy runs, but its startup probe has not succeeded")
	injected.recheck = 120
	served := func(change func(*corev1.Pod)) *scene {
		return running(3).with(func(s *scene) {
			change(&s.pods[1])
			s.counts(3, 3, 2, 2)
		})
	}
	stopped := want{reason: appstatus.ReasonProbeFailing, phase: appstatus.PhaseDegraded, available: true, says: []string{"Pod orders-2-001, container app runs, but its readiness probe (HTTP GET /ready at port http) fails."}, documented: true}
	return []row{
		{"the startup probe has time left", starts(30, runsSince(0, false)).with(probed(startup, readiness)), waits(31)},
		{"the startup probe has used up its time", starts(61, runsSince(0, false)).with(probed(startup, readiness)), documented},
		// When the startup probe succeeded is not told, so its whole time counts.
		{"the readiness probe has time left", starts(91, runsSince(0, true)).with(probed(startup, readiness)), waits(1)},
		{"C18 the readiness probe has used up its time", starts(92, runsSince(0, true)).with(probed(startup, readiness)), fails("readiness probe (HTTP GET /ready at port http) has not succeeded within the 92 seconds")},
		{"there is a readiness probe alone", starts(40, runsSince(10, true)).with(probed(nil, readiness)), waits(1)},
		{"a delay and the server's defaults count", starts(35, runsSince(0, true)).with(probed(nil, &corev1.Probe{InitialDelaySeconds: 5})), waits(1)},
		{"an injected container has time left", starts(59, runsSince(0, true), func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Name = "istio-proxy" }), waits(1)},
		{"N28 an injected container is not ready", starts(60, runsSince(0, true), func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Name = "istio-proxy" }),
			fails("sidecar istio-proxy runs, but its readiness probe has not succeeded within the 60 seconds")},
		{"N28 a sidecar among the init containers is not ready", starts(60, pending, func(p *corev1.Pod) {
			nativeSidecar(p)
			c := &p.Status.InitContainerStatuses[1]
			c.Ready, c.Started, c.State.Running.StartedAt = false, new(false), epoch
		}), injected},
		{"C18 a pod that served fails its readiness probe", served(func(p *corev1.Pod) {
			runsSince(0, true)(p)
			servedUntil(3600)(p)
		}).with(probed(startup, readiness)), stopped},
		{"a pod that crashed long ago and has served since fails its probe", served(func(p *corev1.Pod) {
			runsSince(0, true)(p)
			servedUntil(3600)(p)
			c := &p.Status.ContainerStatuses[0]
			c.RestartCount, c.LastTerminationState.Terminated = 1, &oom
		}).with(probed(startup, readiness)), stopped},
	}
}

// startupRows: the kubelet ends a container whose startup probe has failed for its time,
// and says so nowhere but in an event.
func startupRows() []row {
	startup := httpProbe("/started", 5, 12)
	after := func(seconds int64, exitCode int32) *scene {
		return starts(100, crashing(corev1.ContainerStateTerminated{ExitCode: exitCode, Reason: "Error", StartedAt: epoch, FinishedAt: afterEpoch(seconds)}))
	}
	probe := want{
		reason: appstatus.ReasonProbeFailing, phase: appstatus.PhaseDegraded, reconciling: true, image: oldImage,
		says: []string{"container app is ended again and again after", "its startup probe (HTTP GET /started at port http) has not succeeded (exit code"},
	}
	crash := want{reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, reconciling: true, image: oldImage, silent: []string{"has not succeeded"}}
	return []row{
		{"the kubelet ended it when the startup probe's time was over", after(61, 137).with(probed(startup, nil)), probe},
		{"it took its grace period to end", after(90, 143).with(probed(startup, nil)), probe},
		{"it ended as it was told to", after(58, 0).with(probed(startup, nil)), probe},
		{"it ended long before", after(10, 137).with(probed(startup, nil)), crash},
		{"it ended long after", after(1000, 137).with(probed(startup, nil)), crash},
		{"it ended by a fault of its own", after(61, 1).with(probed(startup, nil)), crash},
		{"it has no startup probe", after(61, 137), crash},
		{"it was killed for its memory", starts(100, crashing(corev1.ContainerStateTerminated{
			ExitCode: 137, Reason: "OOMKilled", StartedAt: epoch, FinishedAt: afterEpoch(61),
		})).with(probed(startup, nil)), crash},
	}
}
