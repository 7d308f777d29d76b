// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// scheduled: the pod is on its node since epoch, and no container has started.
func scheduled(p *corev1.Pod) {
	waiting("ContainerCreating", "")(p)
	p.Status.Conditions[0].LastTransitionTime = epoch
}

// runsSince: the container runs since so many seconds after epoch and is not ready.
func runsSince(seconds int64, started bool) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		notReady(p)
		c := &p.Status.ContainerStatuses[0]
		c.Started = new(started)
		c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: afterEpoch(seconds)}}
	}
}

// servedUntil: the pod has served, and ceased to so many seconds after epoch.
func servedUntil(seconds int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Conditions[1].LastTransitionTime = afterEpoch(seconds) }
}

// starts is the scene of a first rollout in which each pod is as the changes make it.
func starts(after int64, changes ...func(*corev1.Pod)) *scene {
	return running(1).with(func(s *scene) {
		s.after = after
		s.previous.Image = oldImage
		s.down(func(p *corev1.Pod) {
			for _, change := range changes {
				change(p)
			}
		})
		s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
	})
}

func startRows() []row {
	slow := func(recheck int64) want {
		return want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, image: oldImage, recheck: recheck}
	}
	notStarted := func(says ...string) want {
		return want{reason: appstatus.ReasonContainersNotStarted, phase: appstatus.PhaseDegraded, reconciling: true, image: oldImage, says: append(says, "Pod orders-2-000 has waited")}
	}
	mounts := func(s *scene) {
		s.deployment.Spec.Template.Spec.Volumes = []corev1.Volume{
			{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "orders-tls"}}},
			{Name: "maybe", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "optional", Optional: new(true)}}},
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "orders-data"}}},
			{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "orders-tls"}}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "projected"}}},
			}}}},
			{Name: "kv", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "secrets-store.csi.k8s.io"}}},
		}
	}
	documented := notStarted("for more than 3 minutes", "See whether these are there: PersistentVolumeClaim orders-data, Secret orders-tls, Secret projected, volume kv of the driver secrets-store.csi.k8s.io.",
		"kubectl describe pod orders-2-000 -n team-a")
	documented.documented, documented.silent = true, []string{"optional", "token"}
	needs := func(references ...workload.ConfigMapReference) func(*scene) {
		return func(s *scene) { s.workload.References.ConfigMaps = references }
	}
	settings := workload.ConfigMapReference{Name: "settings", Keys: []string{"app.yaml", "url"}}
	missing := func(recheck int64, says ...string) want {
		return want{reason: appstatus.ReasonConfigMissing, phase: appstatus.PhaseDegraded, reconciling: true, image: oldImage, says: says, recheck: recheck}
	}
	return []row{
		{"a pod came to its node just now", starts(0, scheduled), slow(180)},
		{"a pod has been on its node for a while", starts(170, scheduled), slow(10)},
		{"no container has started for minutes", starts(180, scheduled), notStarted("an image may take long to pull, or a volume cannot be mounted. More is told")},
		{"no container has started for minutes and the pods mount volumes", starts(1000, scheduled).with(mounts), documented},
		{"the kubelet has not looked at the pod", starts(180, scheduled, func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }), notStarted()},
		{"it is not known since when the pod is on its node", starts(9999, func(p *corev1.Pod) { waiting("ContainerCreating", "")(p) }), slow(0)},
		{"the application waits after the init container has ended", starts(200, pending, scheduled, func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "migrate", Ready: true, State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: afterEpoch(150)},
			}}}
		}), slow(130)},
		{"an init container takes its time", starts(9999, scheduled, func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "migrate", State: corev1.ContainerState{
				Running: &corev1.ContainerStateRunning{StartedAt: afterEpoch(5)},
			}}}
		}), slow(0)},
		{"a sidecar among the init containers runs and the application waits", starts(300, scheduled, func(p *corev1.Pod) {
			nativeSidecar(p)
			p.Status.InitContainerStatuses[0].State.Running.StartedAt = afterEpoch(100)
		}), notStarted()},
		// The kubelet gives no reason for what is mounted: the operator knows by itself.
		{"C19 a mounted ConfigMap is missing", starts(0, scheduled).with(needs(settings)), missing(180, "Pod orders-2-000 has not started, since it needs ConfigMap settings, which is not there: create it.").onThePage()},
		{"C19 keys of a mounted ConfigMap are missing", starts(999, scheduled).with(needs(settings)).with(func(s *scene) {
			s.configMaps = map[string]workload.ConfigMap{"settings": {"other": "0"}}
		}), missing(0, "needs key app.yaml of ConfigMap settings, key url of ConfigMap settings, which are not there: create them.")},
		{"what the pod needs of ConfigMaps is there", starts(0, scheduled).with(needs(settings, workload.ConfigMapReference{Name: "more", Optional: true})).with(func(s *scene) {
			s.configMaps = map[string]workload.ConfigMap{"settings": {"app.yaml": "0", "url": "1"}}
		}), slow(180)},
		{"a ConfigMap vanished after the pods had started", running(1).with(needs(settings)), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true}},
	}
}
