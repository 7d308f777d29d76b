// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

func restRows() []row {
	return []row{
		{"all pods serve", running(3), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, says: []string{"All 3 pods serve"}, documented: true,
			states: map[string][]string{"Running": {"orders-2-000", "orders-2-001", "orders-2-002"}},
		}},
		{"the only pod serves", running(1), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, says: []string{"The pod serves."}, silent: []string{"1 pods"},
		}},
		{"a sidecar among the init containers runs", running(1).with(func(s *scene) { nativeSidecar(&s.pods[0]) }), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, states: map[string][]string{"Running": {"orders-2-000"}},
		}},
		{"stopped", running(0), want{
			reason: appstatus.ReasonStopped, phase: appstatus.PhaseStopped, available: true, says: []string{"Stopped"}, documented: true,
		}},
		{"admission changed fields", running(3).with(func(s *scene) {
			s.applied.Modified = []string{"Deployment.spec.replicas", "Service.spec.type"}
		}), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true,
			says: []string{"All 3 pods serve", "Admission changed Deployment.spec.replicas, Service.spec.type"}, silent: []string{"more"}, documented: true,
		}},
		{"admission changed many fields", running(3).with(func(s *scene) {
			for i := range 8 {
				s.applied.Modified = append(s.applied.Modified, fmt.Sprintf("Deployment.spec.f%d", i))
			}
		}), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true,
			says: []string{"Deployment.spec.f4 and 3 more"}, silent: []string{"f5"},
		}},
		{"an apply changed nothing of the Deployment's specification", running(3).with(func(s *scene) {
			s.applied.Generation = 4
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true}},
		{"a ReplicaSet could not create a pod for a while, but has by now", running(3).with(func(s *scene) {
			s.condition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", "exceeded quota: pods")
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true}},
		{"somebody paused the Deployment, but nothing is to be rolled out", running(3).with(func(s *scene) {
			s.deployment.Spec.Paused = true
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused")
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true}},
		// An injector may put its container first; server-side apply keeps that order.
		{"a sidecar comes before the application's container", running(3).with(func(s *scene) {
			containers := &s.deployment.Spec.Template.Spec.Containers
			*containers = append([]corev1.Container{{Name: "proxy", Image: "registry.example.com/proxy:1"}}, *containers...)
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, image: newImage}},
		{"metrics are offered and nobody scrapes", running(1).with(func(s *scene) { s.workload.Monitoring = &workload.Monitoring{Port: "http"} }), want{
			reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true,
			says: []string{"The pod serves. No metrics are scraped: the cluster has no ServiceMonitor API."}, documented: true,
		}},
		{"metrics are scraped", running(1).with(func(s *scene) {
			s.workload.Monitoring = &workload.Monitoring{Port: "http"}
			s.platform.Kinds = map[string]bool{"ServiceMonitor": true}
		}), want{reason: appstatus.ReasonReady, phase: appstatus.PhaseRunning, available: true, silent: []string{"scraped"}}},
	}
}
