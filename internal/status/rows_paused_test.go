// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
)

func paused(s *scene) { s.workload.Paused = true }

// pausedRows: what runs is looked at, and nothing is waited for.
func pausedRows() []row {
	failing := func(reason string, says ...string) want {
		return want{reason: reason, phase: appstatus.PhasePaused, says: says}
	}
	serving := want{reason: appstatus.ReasonPaused, phase: appstatus.PhasePaused, available: true, says: []string{"Paused: what runs is left as it is while spec.paused is true. All 3 pods serve."}, documented: true}
	waits := func(kinds ...string) func(*scene) { return func(s *scene) { s.applied.Waiting = kinds } }
	edited := want{reason: appstatus.ReasonPaused, phase: appstatus.PhasePaused, available: true, unready: true, documented: true, says: []string{
		"Paused, and a change waits, of Deployment, Service: set spec.paused to false to carry it out. All 3 pods serve.",
	}}
	stops := edited
	stops.documented, stops.says = false, []string{"a change waits, of Deployment:", "All 3 pods serve."}
	unread := failing(appstatus.ReasonApplyFailed, "The cluster cannot be read: timeout")
	unread.available = true
	scaled := want{reason: appstatus.ReasonPaused, phase: appstatus.PhasePaused, available: true, says: []string{"All 2 pods serve."}}
	rolling := failing(appstatus.ReasonRollingOut, "0 of 3 pods run")
	rolling.available, rolling.image = true, oldImage
	return []row{
		{"C30 paused while the pods serve", running(3).with(paused), serving},
		{"paused and then changed", running(3).with(paused).with(waits("Deployment", "Service")).with(func(s *scene) { s.workload.Replicas = 5 }), edited},
		{"paused and then told to stop", running(3).with(paused).with(waits("Deployment")).with(func(s *scene) { s.workload.Replicas = 0 }), stops},
		{"paused with a change that may mend what crashes", running(1).with(paused).with(waits("Deployment")).with(func(s *scene) { s.down(crashing(failure)) }), failing(appstatus.ReasonCrashLoop, "exit code 3")},
		{"paused while the cluster cannot be read", running(3).with(paused).with(func(s *scene) { s.applied.Failure = unreadable("timeout") }), unread},
		{"C30 somebody scaled the Deployment while paused", running(2).with(paused).with(func(s *scene) { s.workload.Replicas = 3 }), scaled},
		{"paused and stopped", running(0).with(paused), want{
			reason: appstatus.ReasonPaused, phase: appstatus.PhasePaused, available: true, says: []string{"Paused", "Stopped: no pod is asked for."},
		}},
		{"somebody scaled the Deployment to nothing while paused", running(0).with(paused).with(func(s *scene) { s.workload.Replicas = 3 }), want{
			reason: appstatus.ReasonPaused, phase: appstatus.PhasePaused, available: true, says: []string{"Paused", "Stopped: the Deployment asks for no pod."},
		}},
		{"paused amid a rollout", rollingOut(3).with(paused), rolling},
		{"paused while pods crash", running(1).with(paused).with(func(s *scene) { s.down(crashing(failure)) }), failing(appstatus.ReasonCrashLoop, "exit code 3")},
		{"paused while the rollout stands still", rollingOut(3).with(paused).with(func(s *scene) {
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", "m")
		}), want{reason: appstatus.ReasonProgressDeadlineExceeded, phase: appstatus.PhasePaused, available: true, image: oldImage}},
		{"paused from the start", running(3).with(paused).with(func(s *scene) {
			s.deployment, s.replicaSets, s.pods, s.previous.Image = nil, nil, nil, ""
		}), want{reason: appstatus.ReasonPaused, phase: appstatus.PhasePaused, unready: true, says: []string{"Paused before anything was made", "spec.paused"}, image: "none"}},
	}
}
