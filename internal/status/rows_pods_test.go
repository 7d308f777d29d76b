// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

func creationRows() []row {
	refused := func(message string) *scene {
		return rollingOut(2).with(func(s *scene) {
			s.pods = s.pods[:2]
			s.counts(2, 0, 2, 2)
			s.condition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", message)
		})
	}
	const (
		quota     = `pods "orders-2-x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`
		noLimit   = `pods "orders-2-x" is forbidden: failed quota: cpu: must specify limits.cpu for: app`
		standards = `pods "orders-2-x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`
		limits    = `pods "orders-2-x" is forbidden: maximum memory usage per Container is 1Gi, but limit is 4Gi`
	)
	demo := func(s *scene) {
		s.workload.Owner.Kind, s.workload.Owner.SelectorKey = "DemoMicroService", workload.LabelDemoMicroService
		s.deployment.Labels = s.workload.Owner.ChildLabels()
	}
	// The old pods serve on, and what runs is the old image.
	pods := func(reason string, says ...string) want {
		return want{reason: reason, phase: appstatus.PhaseDegraded, reconciling: true, available: true, says: says, image: oldImage}
	}
	return []row{
		{"C16 N19 a quota keeps new pods from being made", refused(quota), pods(appstatus.ReasonQuotaExceeded, quota+".").onThePage()},
		{"N18 a quota demands a limit", refused(noLimit), pods(appstatus.ReasonQuotaExceeded, noLimit+". In the EGApp, set spec.resources.limits.cpu.").onThePage()},
		{"N18 a quota demands more of several containers", refused(`forbidden: failed quota: q: must specify limits.cpu for: app,proxy; memory for: proxy`),
			pods(appstatus.ReasonQuotaExceeded, "In the EGApp, set spec.resources.limits.cpu, set resources.limits.cpu of the container proxy in spec.podTemplatePatch, set resources.requests.memory of the container proxy in spec.podTemplatePatch.")},
		{"N18 a quota demands something in other words", refused(`forbidden: failed quota: q: must specify something`), pods(appstatus.ReasonQuotaExceeded, "must specify something.")},
		{"N18 a quota demands a limit of a DemoMicroService", refused(noLimit).with(demo), pods(appstatus.ReasonQuotaExceeded, noLimit, "A DemoMicroService sets no resources: give the namespace a LimitRange with defaults.")},
		{"N34 Pod Security keeps new pods from being made", refused(standards).with(func(s *scene) { s.workload.Security = workload.SecurityBaseline }),
			pods(appstatus.ReasonPodRefused, standards, "set spec.securityProfile to Restricted").onThePage()},
		{"Pod Security refuses what somebody put into a restricted pod", refused(standards).with(func(s *scene) { s.workload.Security = workload.SecurityRestricted }),
			want{reason: appstatus.ReasonPodRefused, phase: appstatus.PhaseDegraded, reconciling: true, available: true, image: oldImage, silent: []string{"spec.securityProfile"}}},
		{"N34 Pod Security refuses a DemoMicroService", refused(standards).with(demo), pods(appstatus.ReasonPodRefused, standards, "make an EGApp")},
		{"N18 a LimitRange keeps new pods from being made", refused(limits), pods(appstatus.ReasonPodRefused, limits, "spec.instanceType", "spec.resources").onThePage()},
		{"N18 a LimitRange refuses a ratio", refused(`pods "x" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000`), pods(appstatus.ReasonPodRefused, "spec.resources")},
		{"N19 there is no such PriorityClass", refused(`pods "x" is forbidden: no PriorityClass with name nope was found`), pods(appstatus.ReasonPodRefused, "no PriorityClass with name nope was found.")},
		{"N26 an injector refuses the pods", refused(`admission webhook "vault.hashicorp.com" denied the request: could not find a token`), pods(appstatus.ReasonPodRefused, "could not find a token.")},
		{"a refusal of the specification before", refused(quota).with(func(s *scene) { s.deployment.Generation = 5 }), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage,
		}},
		{"a refusal that is over", refused(quota).with(func(s *scene) {
			s.condition(appsv1.DeploymentReplicaFailure, corev1.ConditionFalse, "", "")
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage}},
	}
}

func podRows() []row {
	down := func(change func(*corev1.Pod)) *scene {
		return running(2).with(func(s *scene) {
			s.down(change)
			s.previous.Image = oldImage
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
		})
	}
	degraded := func(reason string, says ...string) want {
		return want{reason: reason, phase: appstatus.PhaseDegraded, reconciling: true, says: says, image: oldImage}
	}
	all := []row{
		{"C18 no node has room", down(unschedulable("0/3 nodes are available: 3 Insufficient memory.")),
			degraded(appstatus.ReasonUnschedulable, "orders-2-000", "0/3 nodes are available: 3 Insufficient memory.").onThePage()},
		{"N29 no node has a GPU left while the old pod serves", rollingOut(1).with(func(s *scene) {
			unschedulable("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.")(&s.pods[1])
		}), want{
			reason: appstatus.ReasonUnschedulable, phase: appstatus.PhaseDegraded, reconciling: true, available: true, image: oldImage,
			says: []string{"orders-2-000", "Insufficient nvidia.com/gpu."},
		}},
		{"N30 a claim is missing", down(unschedulable(`persistentvolumeclaim "orders-data" not found`)), degraded(appstatus.ReasonUnschedulable, `persistentvolumeclaim "orders-data" not found.`)},
		{"a queue holds the pods back", down(func(p *corev1.Pod) {
			unschedulable("Scheduling is blocked due to non-empty scheduling gates")(p)
			p.Status.Conditions[0].Reason = corev1.PodReasonSchedulingGated
		}), degraded(appstatus.ReasonUnschedulable, "scheduling gates")},
		{"C19 a key is missing", down(waiting("CreateContainerConfigError", `couldn't find key "url" in ConfigMap team-a/settings`)),
			degraded(appstatus.ReasonConfigMissing, "app", "orders-2-000", `couldn't find key "url" in ConfigMap team-a/settings`).onThePage()},
		{"C19 a Secret is missing", down(waiting("CreateContainerConfigError", `secret "db" not found`)),
			degraded(appstatus.ReasonConfigMissing, `secret "db" not found`)},
		{"N28 a key that a sidecar needs is missing", down(func(p *corev1.Pod) {
			waiting("CreateContainerConfigError", `configmap "proxy" not found`)(p)
			p.Status.ContainerStatuses[0].Name = "proxy"
		}), degraded(appstatus.ReasonConfigMissing, "sidecar proxy", `configmap "proxy" not found.`)},
		{"C18 the new pod's image cannot be pulled while the old ones serve", rollingOut(2).with(func(s *scene) {
			s.pods[2] = pod("orders-2-000", newRevision, waiting("ImagePullBackOff", `Back-off pulling image "registry.example.com/orders:2": not found`))
		}), want{
			reason: appstatus.ReasonImagePullFailed, phase: appstatus.PhaseDegraded, reconciling: true, available: true, image: oldImage,
			says: []string{newImage, "ImagePullBackOff", "not found"}, documented: true,
			states: map[string][]string{"Running": {"orders-1-000", "orders-1-001"}, "ImagePullBackOff": {"orders-2-000"}},
		}},
		{"the pod's sandbox is being made", down(waiting("ContainerCreating", "")), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, image: oldImage,
			states: map[string][]string{"Pending": {"orders-2-000", "orders-2-001"}},
		}},
	}
	for _, reason := range []string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"} {
		all = append(all, row{"N31 image: " + reason, down(waiting(reason, "the kubelet's words")),
			degraded(appstatus.ReasonImagePullFailed, "app", "orders-2-000", newImage, reason, "the kubelet's words")})
	}
	all = append(all,
		row{"N33 an image is pulled with a Secret", down(waiting("ErrImagePull", "unauthorized")).with(pullSecrets("team-reg")),
			degraded(appstatus.ReasonImagePullFailed, "unauthorized. It is pulled with the Secret team-reg: see whether it is there and right.").onThePage()},
		row{"N33 an image is pulled with Secrets", down(waiting("ErrImagePull", "unauthorized")).with(pullSecrets("a", "b")),
			degraded(appstatus.ReasonImagePullFailed, "It is pulled with the Secrets a, b: see whether they are there and right.")},
		row{"N31 an image that no runtime can name", down(waiting("InvalidImageName", "couldn't parse image name")).with(func(s *scene) {
			s.deployment.Spec.Template.Spec.Containers[0].Image = "MyOrg/App:1.0"
		}), degraded(appstatus.ReasonImagePullFailed, "image MyOrg/App:1.0: InvalidImageName: couldn't parse image name.")})
	all = append(all, row{"the entrypoint is not in the image", down(waiting("RunContainerError", `exec: "/orders": stat /orders: no such file or directory: unknown`)),
		degraded(appstatus.ReasonContainerStartFailed, "no such file").onThePage()})
	// The kubelet says RunContainerError and CrashLoopBackOff by turns: the cause stays the same.
	for name, change := range map[string]func(*corev1.ContainerStatus){
		"without a word": func(*corev1.ContainerStatus) {},
		"in other words": func(c *corev1.ContainerStatus) { c.State.Waiting.Message = "failed to start containerd task" },
	} {
		all = append(all, row{"a container that cannot be run is tried again " + name, down(func(p *corev1.Pod) {
			waiting("RunContainerError", "")(p)
			c := &p.Status.ContainerStatuses[0]
			c.RestartCount, c.LastTerminationState.Terminated = 1, &execFormat
			change(c)
		}), degraded(appstatus.ReasonCrashLoop, "container app ends again and again: exit code 128 (StartError): exec /app: exec format error. The image is built for another")})
	}
	all = append(all, row{"a container that has crashed cannot be run", down(func(p *corev1.Pod) {
		waiting("RunContainerError", "no such device")(p)
		p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &failure
	}), degraded(appstatus.ReasonContainerStartFailed, "RunContainerError: no such device.")})
	for _, reason := range []string{"CreateContainerError", "RunContainerError", "PostStartHookError", "SomethingNew"} {
		all = append(all, row{"start: " + reason, down(waiting(reason, "the kubelet's words")),
			degraded(appstatus.ReasonContainerStartFailed, "app", "orders-2-000", reason, "the kubelet's words")})
	}
	return all
}

func pullSecrets(names ...string) func(*scene) {
	return func(s *scene) {
		for _, name := range names {
			s.deployment.Spec.Template.Spec.ImagePullSecrets = append(s.deployment.Spec.Template.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
		}
	}
}

func crashRows() []row {
	down := func(change func(*corev1.Pod)) *scene {
		return running(1).with(func(s *scene) {
			s.down(change)
			s.previous.Image = oldImage
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
		})
	}
	crashes := func(says, silent []string) want {
		return want{reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, reconciling: true, says: says, silent: silent, image: oldImage}
	}
	main := []string{"init container", "sidecar"}
	return []row{
		{"the application crashes", down(crashing(failure)), crashes([]string{"app", "orders-2-000", "exit code 3", "Error"}, main)},
		{"C18 the application needs too much memory", down(crashing(oom)), crashes([]string{"container app ends again and again: exit code 137 (OOMKilled).", "spec.instanceType", "spec.resources.limits.memory"}, main).onThePage()},
		{"a DemoMicroService needs too much memory", down(crashing(oom)).with(func(s *scene) {
			s.workload.Owner.Kind, s.workload.Owner.SelectorKey = "DemoMicroService", workload.LabelDemoMicroService
		}), crashes([]string{"OOMKilled", "more memory than it may have"}, []string{"spec."})},
		{"N32 the application is done", down(crashing(completed)), crashes([]string{"app", "exit code 0 (Completed), but a service must keep running."}, main).onThePage()},
		{"the application is done, or its liveness probe fails", down(crashing(ranFor(completed, 30))).with(live), crashes([]string{
			"exit code 0 (Completed). Either it ended by itself, but a service must keep running, or the kubelet ended it since its liveness probe (HTTP GET /live at port http) failed.",
		}, main).onThePage()},
		{"the application is done before its liveness probe can fail", down(crashing(ranFor(completed, 5))).with(live), crashes([]string{"exit code 0 (Completed), but a service must keep running."}, []string{"liveness"})},
		{"the end of the log tells of a panic", down(crashing(saying("app starts\npanic: no database\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:7 +0x18\n"))),
			crashes([]string{"exit code 3 (Error): panic: no database."}, []string{"starts", "goroutine"})},
		{"the end of the log tells of an exception", down(crashing(saying("Exception in thread \"main\" java.lang.Error: no\n\tat Main.main(Main.java:3)\nCaused by: java.io.IOException: refused\n\t... 1 more\n"))),
			crashes([]string{"exit code 3 (Error): Caused by: java.io.IOException: refused."}, []string{"Main.java"})},
		{"the end of the log says why", down(crashing(saying("Traceback (most recent call last):\n  File \"app.py\"\nValueError: no settings\n\n"))),
			crashes([]string{"exit code 3 (Error): ValueError: no settings."}, []string{"Traceback"})},
		{"what needs too much memory has no time for words", down(crashing(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", Message: "GET /orders"})),
			crashes([]string{"exit code 137 (OOMKilled). It needs more memory"}, []string{"GET"})},
		{"the end of the log is long", down(crashing(saying(strings.Repeat("\u00e9", 400)))), crashes([]string{strings.Repeat("\u00e9", 150) + "..."}, []string{strings.Repeat("\u00e9", 151)})},
		{"N32 the image is of another architecture, as the log tells", down(crashing(saying("exec /app: exec format error"))),
			crashes([]string{"exit code 3 (Error): exec /app: exec format error. The image is built for another"}, main)},
		{"N32 the image is of another architecture", down(crashing(execFormat)), crashes([]string{"app", "exit code 128 (StartError): exec /app: exec format error. The image is built for another processor architecture"}, main).onThePage()},
		{"N32 the image may be of another architecture", down(crashing(corev1.ContainerStateTerminated{ExitCode: 255})), crashes([]string{"exit code 255. An image that is built for another processor architecture"}, main)},
		{"the kubelet ends an application that has a liveness probe", down(crashing(corev1.ContainerStateTerminated{ExitCode: 143, Reason: "Error"})).with(func(s *scene) {
			s.deployment.Spec.Template.Spec.Containers[0].LivenessProbe = httpProbe("/live", 10, 3)
		}), crashes([]string{"exit code 143", "when its liveness or startup probe fails"}, main)},
		{"the application crashes in a way that is not known", down(func(p *corev1.Pod) {
			crashing(failure)(p)
			p.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{}
		}), crashes([]string{"app", "ends again and again."}, main)},
		{"N28 the init container crashes", down(crashingInit(failure)), crashes([]string{"init container", "migrate", "orders-2-000", "exit code 3"}, nil).onThePage()},
		{"the init container needs too much memory", down(crashingInit(oom)), crashes([]string{"init container", "migrate", "OOMKilled"}, nil)},
		{"a sidecar crashes", down(crashingSidecar(oom)), crashes([]string{"sidecar", "proxy", "orders-2-000", "OOMKilled"}, nil)},
		{"N28 a sidecar among the init containers crashes", down(crashingNativeSidecar(oom)), crashes([]string{"sidecar", "proxy", "orders-2-000", "exit code 137", "OOMKilled"}, []string{"init container"})},
		{"an init container crashes beside a sidecar", down(func(p *corev1.Pod) {
			nativeSidecar(p)
			crashingInit(failure)(p)
		}), crashes([]string{"init container", "migrate", "exit code 3"}, []string{"sidecar"})},
		{"N28 init container and application crash", down(func(p *corev1.Pod) {
			crashing(failure)(p)
			crash(&p.Status.InitContainerStatuses[0], oom)
		}), crashes([]string{"migrate", "OOMKilled"}, []string{"exit code 3"})},
		{"the application has ended and waits to be started", down(ended(oom)), crashes([]string{"app", "orders-2-000", "exit code 137", "OOMKilled"}, main)},
		{"the application is done and waits to be started", down(ended(completed)), crashes([]string{"exit code 0", "a service must keep running"}, main)},
		{"the init container has failed and waits to be started", down(func(p *corev1.Pod) {
			pending(p)
			p.Status.InitContainerStatuses[0].State = corev1.ContainerState{Terminated: &failure}
		}), crashes([]string{"init container", "migrate", "exit code 3"}, nil)},
		{"the application crashes after it has served", running(1).with(func(s *scene) { s.down(crashing(failure)) }), want{
			reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, says: []string{"exit code 3"},
			states: map[string][]string{"CrashLoopBackOff": {"orders-2-000"}},
		}},
		{"the init container of a pod that was replaced crashes", running(1).with(func(s *scene) { s.down(crashingInit(failure)) }), want{
			reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, says: []string{"init container migrate", "exit code 3"},
		}},
		{"a sidecar crashes after the application has served", running(1).with(func(s *scene) { s.down(crashingSidecar(failure)) }), want{
			reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, says: []string{"sidecar proxy", "exit code 3"},
		}},
		{"a sidecar among the init containers keeps a pod that was replaced from starting", running(1).with(func(s *scene) {
			s.down(func(p *corev1.Pod) {
				crashingNativeSidecar(failure)(p)
				p.Status.Phase = corev1.PodPending
				p.Status.ContainerStatuses[0].Ready, p.Status.ContainerStatuses[0].Started = false, new(false)
				p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
			})
		}), want{reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, says: []string{"sidecar proxy", "exit code 3"}}},
		{"a pod that was replaced starts after its init container has succeeded at the second time", running(1).with(func(s *scene) {
			s.down(func(p *corev1.Pod) {
				starting(p)
				p.Status.InitContainerStatuses[0].RestartCount = 1
			})
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true}},
		{"a pod crashes and the Deployment does not know yet", running(3).with(func(s *scene) { crashing(oom)(&s.pods[1]) }), want{
			reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, available: true, says: []string{"orders-2-001", "OOMKilled"},
		}},
	}
}

// ranFor is an end so many seconds after the start.
func ranFor(end corev1.ContainerStateTerminated, seconds int64) corev1.ContainerStateTerminated {
	end.StartedAt, end.FinishedAt = epoch, afterEpoch(seconds)
	return end
}

// saying is a failure after which the end of the log is this.
func saying(log string) corev1.ContainerStateTerminated {
	end := failure
	end.Message = log
	return end
}

// live gives the application a liveness probe that fails after 30 seconds.
func live(s *scene) {
	s.deployment.Spec.Template.Spec.Containers[0].LivenessProbe = httpProbe("/live", 10, 3)
}

func leftoverRows() []row {
	withLeftovers := func(s *scene) {
		s.pods = append(s.pods,
			pod("orders-2-100", newRevision, crashing(failure), terminating),
			pod("orders-2-101", newRevision, evicted),
			pod("orders-2-102", newRevision, waiting("ImagePullBackOff", "not found"), terminating),
			pod("orders-2-103", newRevision, func(p *corev1.Pod) {
				crashing(oom)(p)
				p.Status.Phase = corev1.PodFailed
			}),
			pod("orders-2-104", newRevision, ended(completed), func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }))
	}
	return []row{
		{"evicted, failed and terminating pods are left", running(1).with(withLeftovers), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, says: []string{"The pod serves."},
			states: map[string][]string{
				"Running": {"orders-2-000"}, "Terminating": {"orders-2-100", "orders-2-102"},
				"Failed": {"orders-2-101", "orders-2-103"}, "Succeeded": {"orders-2-104"},
			},
		}},
		{"leftovers beside a pod that starts", running(1).with(func(s *scene) {
			s.down(pending)
			withLeftovers(s)
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"0 of 1 pod"}}},
		{"the old pods crash while a new one starts", rollingOut(2).with(func(s *scene) {
			crashing(failure)(&s.pods[0])
			unschedulable("0/3 nodes are available")(&s.pods[1])
			s.counts(3, 1, 0, 0)
			s.condition(appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "")
		}), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"0 of 2 pods"}, image: oldImage,
			states: map[string][]string{"CrashLoopBackOff": {"orders-1-000"}, "Pending": {"orders-1-001"}, "NotReady": {"orders-2-000"}},
		}},
		{"the pod of another's ReplicaSet crashes", running(1).with(func(s *scene) {
			s.pods = append(s.pods, pod("orders-3-000", "3", crashing(failure)))
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true}},
	}
}
