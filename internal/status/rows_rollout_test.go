// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
)

func rolloutRows() []row {
	return []row{
		{"nothing is there yet", running(3).with(func(s *scene) {
			s.deployment, s.replicaSets, s.pods, s.previous.Image = nil, nil, nil, ""
			s.applied.Generation = 1
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"0 of 3 pods"}, image: "none"}},
		{"the Deployment was made and nobody has looked at it", running(3).with(func(s *scene) {
			s.replicaSets, s.pods, s.previous.Image = nil, nil, ""
			s.deployment.Generation, s.deployment.Annotations, s.deployment.Status = 1, nil, appsv1.DeploymentStatus{}
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"0 of 3 pods"}, image: "none"}},
		// What serves is of the specification before: to count it would be a lie.
		{"a new image was written just now", running(3).with(func(s *scene) {
			s.previous.Image = oldImage
			s.applied.Generation = 5
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, silent: []string{"3 of 3"}, image: oldImage}},
		{"the Deployment's status is of the specification before", running(3).with(func(s *scene) {
			s.previous.Image = oldImage
			s.deployment.Generation = 5
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, silent: []string{"3 of 3"}, image: oldImage}},
		// The pods that are known are of the pod template before, which is on its way out.
		{"a crash is mended and nobody has looked at the Deployment yet", running(3).with(func(s *scene) {
			s.down(crashing(failure))
			s.previous.Image = oldImage
			s.deployment.Generation = 5
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, image: oldImage}},
		{"a crash is mended just now", running(3).with(func(s *scene) {
			s.down(crashing(failure))
			s.previous.Image = oldImage
			s.applied.Generation = 5
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, image: oldImage}},
		{"the first new pod starts while the old ones serve", rollingOut(3), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"0 of 3 pods"}, image: oldImage,
		}},
		{"the first new pod serves", rollingOut(3).with(func(s *scene) {
			s.pods[3] = pod("orders-2-000", newRevision)
			s.counts(4, 1, 4, 4)
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"1 of 3 pods runs the specification and serves."}, image: oldImage, documented: true}},
		{"all new pods serve and an old one is left", running(3).with(func(s *scene) {
			s.previous.Image = oldImage
			s.pods = append([]corev1.Pod{pod("orders-1-000", oldRevision)}, s.pods...)
			s.counts(4, 3, 4, 4)
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage}},
		{"all new pods serve and an old one that does not is left", running(3).with(func(s *scene) {
			s.previous.Image = oldImage
			s.pods = append([]corev1.Pod{pod("orders-1-000", oldRevision, notReady)}, s.pods...)
			s.counts(4, 3, 3, 3)
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage}},
		{"the first pods start", running(3).with(func(s *scene) {
			s.previous.Image = ""
			s.down(pending)
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
		}), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, says: []string{"0 of 3 pods"}, image: "none",
			states: map[string][]string{"Pending": {"orders-2-000", "orders-2-001", "orders-2-002"}},
		}},
		{"scaled up", running(5).with(func(s *scene) {
			pending(&s.pods[3])
			starting(&s.pods[4])
			s.counts(5, 5, 3, 3)
		}), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"3 of 5 pods"},
			states: map[string][]string{"Running": {"orders-2-000", "orders-2-001", "orders-2-002"}, "Pending": {"orders-2-003"}, "NotReady": {"orders-2-004"}},
		}},
		{"scaled down to nothing while pods run", running(3).with(func(s *scene) {
			s.workload.Replicas, s.deployment.Spec.Replicas = 0, new(int32(0))
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, silent: []string{"3 of 0"}}},
		{"a drained node's pod is replaced", running(3).with(func(s *scene) {
			terminating(&s.pods[0])
			s.pods = append(s.pods, pod("orders-2-003", newRevision, pending))
			s.counts(3, 3, 2, 2)
		}), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, says: []string{"2 of 3 pods"},
			states: map[string][]string{"Terminating": {"orders-2-000"}, "Running": {"orders-2-001", "orders-2-002"}, "Pending": {"orders-2-003"}},
		}},
	}
}

func standstillRows() []row {
	paused := func(s *scene) {
		s.deployment.Spec.Paused = true
		s.condition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused")
	}
	late := func(s *scene) {
		s.condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", `ReplicaSet "orders-2" has timed out progressing.`)
	}
	return []row{
		// N25: the image is changed while the Deployment is paused.
		{"N25 somebody paused the Deployment amid a rollout", rollingOut(3).with(paused), want{
			reason: appstatus.ReasonDeploymentPaused, phase: appstatus.PhaseDegraded, stalled: true, available: true, image: oldImage,
			says: []string{"paused", "kubectl rollout resume deployment/orders -n team-a"}, documented: true,
		}},
		// No ReplicaSet is made while it is paused: the pods that are there are the old ones.
		{"somebody paused the Deployment before a rollout that would mend a crash", running(3).with(func(s *scene) {
			s.down(crashing(failure))
			s.previous.Image = oldImage
			s.counts(3, 0, 0, 0)
			paused(s)
		}), want{reason: appstatus.ReasonDeploymentPaused, phase: appstatus.PhaseDegraded, stalled: true, image: oldImage}},
		{"the rollout stands still", rollingOut(3).with(late), want{
			reason: appstatus.ReasonProgressDeadlineExceeded, phase: appstatus.PhaseDegraded, stalled: true, available: true, image: oldImage,
			says: []string{`ReplicaSet "orders-2" has timed out progressing.`}, documented: true,
		}},
		{"the rollout of the specification before stood still", rollingOut(3).with(late).with(func(s *scene) { s.deployment.Generation = 5 }), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage,
		}},
		{"the rollout stood still and went on", running(3).with(late), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true,
		}},
		// The rollout is done: no change is under way, whoever of the kubelet and the
		// Deployment controller was faster to tell.
		{"pods have stopped serving", running(3).with(func(s *scene) {
			notReady(&s.pods[0])
			notReady(&s.pods[2])
			s.counts(3, 3, 1, 1)
		}), want{
			reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, says: []string{"1 of 3 pods"},
			states: map[string][]string{"NotReady": {"orders-2-000", "orders-2-002"}, "Running": {"orders-2-001"}},
		}},
		{"pods have stopped serving and the Deployment does not know yet", running(3).with(func(s *scene) {
			notReady(&s.pods[0])
			notReady(&s.pods[2])
		}), want{reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, says: []string{"1 of 3 pods"}}},
		// Pods and Deployments come by watches of their own: one of the two was seen at an earlier time.
		{"a Deployment counts a pod that is seen to start", running(3).with(func(s *scene) { starting(&s.pods[1]) }), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true,
			says: []string{"2 of 3 pods run the specification and serve."},
		}},
		{"a pod is not there although the Deployment counts it", running(3).with(func(s *scene) {
			s.pods = s.pods[:2]
		}), want{reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, says: []string{"2 of 3 pods"}}},
		{"the kubelet has started a pod's container again", running(3).with(func(s *scene) {
			starting(&s.pods[1])
			c := &s.pods[1].Status.ContainerStatuses[0]
			c.RestartCount, c.LastTerminationState.Terminated = 1, &failure
			s.counts(3, 3, 2, 2)
		}), want{reason: appstatus.ReasonCrashLoop, phase: appstatus.PhaseDegraded, available: true, says: []string{"orders-2-001", "exit code 3"}}},
		{"a readiness gate is closed", running(3).with(func(s *scene) {
			ready := &s.pods[1].Status.Conditions[1]
			ready.Status, ready.Reason, ready.Message = corev1.ConditionFalse, "ReadinessGatesNotReady", `the status of pod readiness gate "lb.example.com" is not "True", but False`
			s.counts(3, 3, 2, 2)
		}), want{
			reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, documented: true,
			says: []string{"2 of 3 pods are ready. Pod orders-2-001", "lb.example.com"},
		}},
		{"a readiness gate of a new pod is closed", rollingOut(3).with(func(s *scene) {
			s.pods[3] = pod("orders-2-000", newRevision)
			ready := &s.pods[3].Status.Conditions[1]
			ready.Status, ready.Reason, ready.Message = corev1.ConditionFalse, "ReadinessGatesNotReady", "corresponding condition of pod readiness gate \"lb.example.com\" does not exist."
		}), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, image: oldImage,
			says: []string{"0 of 3 pods run", "Pod orders-2-000", "lb.example.com"},
		}},
		{"a node is lost", running(3).with(func(s *scene) {
			s.pods[1].Spec.NodeName = "node-7"
			s.pods[1].Status.Conditions[1] = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}
			s.pods[1].Status.Conditions = append(s.pods[1].Status.Conditions, corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue})
			s.counts(3, 3, 2, 2)
		}), want{
			reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, documented: true,
			says: []string{"2 of 3 pods are ready. Pod orders-2-001: its containers were ready when its node was last heard of. Node node-7 may be lost: see kubectl get node node-7."},
		}},
		{"a pod that was evicted is replaced", running(3).with(func(s *scene) {
			evictedAt(100)(&s.pods[0])
			s.pods = append(s.pods, pod("orders-2-003", newRevision, starting, scheduledAt(101)))
			s.counts(3, 3, 2, 2)
		}), want{
			reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, documented: true,
			says: []string{`2 of 3 pods run the specification and serve. Pod orders-2-000 was evicted: Usage of EmptyDir volume "files-0" exceeds the limit "1Mi".`},
		}},
		{"a pod that replaced an evicted one has stopped serving", running(3).with(func(s *scene) {
			evictedAt(100)(&s.pods[0])
			s.pods = append(s.pods, pod("orders-2-003", newRevision, notReady, scheduledAt(101)))
			s.counts(3, 3, 2, 2)
		}), want{reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, says: []string{"2 of 3 pods are ready. Pod orders-2-000 was evicted"}}},
		{"a pod was evicted long before another one starts", running(3).with(func(s *scene) {
			evictedAt(100)(&s.pods[0])
			s.pods = append(s.pods, pod("orders-2-003", newRevision, starting, scheduledAt(300)))
			s.counts(3, 3, 2, 2)
		}), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, available: true, silent: []string{"evicted"}}},
		{"all pods were evicted and the Deployment does not know yet", running(3).with(func(s *scene) {
			for i := range s.pods {
				evicted(&s.pods[i])
			}
		}), want{reason: appstatus.ReasonPodsNotReady, phase: appstatus.PhaseDegraded, available: true, says: []string{"0 of 3 pods"}}},
	}
}

// evictedAt is the end of a pod so many seconds after epoch.
func evictedAt(seconds int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		evicted(p)
		p.Status.Message = `Usage of EmptyDir volume "files-0" exceeds the limit "1Mi". `
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: epoch},
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "PodFailed", LastTransitionTime: afterEpoch(seconds)},
		}
	}
}

// scheduledAt is the time at which a pod came to its node.
func scheduledAt(seconds int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = afterEpoch(seconds) }
}
