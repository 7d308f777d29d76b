// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"platformapp/internal/workload"
)

// revisionHistoryLimit is how many earlier pod templates stay for kubectl rollout history.
const revisionHistoryLimit = 3

// deployment runs the pods.
func deployment(w workload.Workload, _ workload.Observed) *Child {
	config := appsv1ac.Deployment(w.Owner.Name, w.Owner.Namespace).
		WithLabels(w.Owner.ChildLabels()).
		WithOwnerReferences(ownerReference(w.Owner)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(w.Replicas).
			WithRevisionHistoryLimit(revisionHistoryLimit).
			WithProgressDeadlineSeconds(w.Rollout.ProgressDeadlineSeconds).
			WithMinReadySeconds(w.Rollout.MinReadySeconds).
			WithStrategy(appsv1ac.DeploymentStrategy().
				WithType(appsv1.RollingUpdateDeploymentStrategyType).
				WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
					WithMaxSurge(w.Rollout.MaxSurge).
					WithMaxUnavailable(w.Rollout.MaxUnavailable))).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(w.Owner.Selector())).
			WithTemplate(podTemplate(w)))
	return &Child{Config: config, Meta: config.ObjectMetaApplyConfiguration}
}
