// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// startBudget is how many seconds a pod may take to start a container before that is a
// problem. The kubelet gives no reason while it waits for a volume; it tells by an event
// after about two minutes. A big image may take as long.
const startBudget = 180

// startProblems finds what keeps containers from starting about which the kubelet says
// nothing: a ConfigMap that is mounted and is not there, or whatever takes too long.
func (f facts) startProblems(pod corev1.Pod) []podProblem {
	since, waits := waitsSince(pod)
	if !waits {
		return nil
	}
	var problems []podProblem
	if missing := workload.MissingConfig(f.workload.References.ConfigMaps, f.observed.ConfigMaps); len(missing) > 0 && !f.paused() {
		pronoun := "which is not there: create it"
		if len(missing) > 1 {
			pronoun = "which are not there: create them"
		}
		problems = append(problems, podProblem{
			rank: rankConfigMissing, reason: appstatus.ReasonConfigMissing,
			message: fmt.Sprintf("Pod %s has not started, since it needs %s, %s.", pod.Name, bounded(missing), pronoun),
		})
	}
	if since == 0 {
		return problems
	}
	message := fmt.Sprintf("Pod %s has waited for its containers to start for more than %d minutes, and the kubelet gives no reason: "+
		"an image may take long to pull, or a volume cannot be mounted.", pod.Name, startBudget/60)
	if mounts := f.unwatchedMounts(); len(mounts) > 0 {
		message += fmt.Sprintf(" See whether these are there: %s.", bounded(mounts))
	}
	return append(problems, podProblem{
		rank: rankNotStarted, reason: appstatus.ReasonContainersNotStarted, since: since + startBudget,
		message: fmt.Sprintf("%s More is told by kubectl describe pod %s -n %s.", message, pod.Name, f.workload.Owner.Namespace),
	})
}

// waitsSince tells whether a pod that is on its node waits for a container to start, and
// the Unix time at which anything last happened in it, or 0 if that is not known.
func waitsSince(pod corev1.Pod) (since int64, waits bool) {
	scheduled := podConditionIs(pod, corev1.PodScheduled, corev1.ConditionTrue)
	if scheduled == nil || isReady(pod) {
		return 0, false
	}
	if !scheduled.LastTransitionTime.IsZero() {
		since = scheduled.LastTransitionTime.Unix()
	}
	// The kubelet that has not seen the pod at all has given it no containers.
	waits = len(pod.Status.ContainerStatuses) == 0
	for _, c := range containers(pod) {
		switch state := c.State; {
		case state.Running != nil && isInit(pod, c.Name):
			return 0, false
		case state.Running != nil && !state.Running.StartedAt.IsZero():
			since = max(since, state.Running.StartedAt.Unix())
		case state.Terminated != nil && !state.Terminated.FinishedAt.IsZero():
			since = max(since, state.Terminated.FinishedAt.Unix())
		case state.Waiting != nil && !isStarting(state.Waiting.Reason):
			return 0, false
		case state.Waiting != nil:
			waits = true
		}
	}
	return since, waits
}

// unwatchedMounts names what the pods mount and must have, and of which the operator does
// not know whether it is there.
func (f facts) unwatchedMounts() []string {
	var mounts []string
	for _, volume := range f.deployment.Spec.Template.Spec.Volumes {
		switch {
		case volume.Secret != nil && !isTrue(volume.Secret.Optional):
			mounts = append(mounts, "Secret "+volume.Secret.SecretName)
		case volume.PersistentVolumeClaim != nil:
			mounts = append(mounts, "PersistentVolumeClaim "+volume.PersistentVolumeClaim.ClaimName)
		case volume.Projected != nil:
			for _, source := range volume.Projected.Sources {
				if source.Secret != nil && !isTrue(source.Secret.Optional) {
					mounts = append(mounts, "Secret "+source.Secret.Name)
				}
			}
		case volume.CSI != nil:
			mounts = append(mounts, "volume "+volume.Name+" of the driver "+volume.CSI.Driver)
		}
	}
	slices.SortFunc(mounts, strings.Compare)
	return slices.Compact(mounts)
}

func isTrue(b *bool) bool { return b != nil && *b }
