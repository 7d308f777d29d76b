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
func deployment(w workload.Workload, o workload.Observed) *Child {
	w.Container.Image = w.ImageToRun(o)
	replicas := replicasOf(w, o)
	spec := appsv1ac.DeploymentSpec().
		WithRevisionHistoryLimit(revisionHistoryLimit).
		WithProgressDeadlineSeconds(w.Rollout.ProgressDeadlineSeconds).
		WithMinReadySeconds(w.Rollout.MinReadySeconds).
		WithStrategy(strategy(w, o)).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(w.Owner.Selector())).
		WithTemplate(podTemplate(w, o))
	if replicas.count != nil {
		spec.WithReplicas(*replicas.count)
	}
	config := appsv1ac.Deployment(w.Owner.Name, w.Owner.Namespace).
		WithLabels(w.Owner.ChildLabels()).
		WithOwnerReferences(ownerReference(w.Owner)).
		WithSpec(spec)
	if replicas.held != nil {
		config.WithAnnotations(map[string]string{workload.AnnotationHeldReplicas: formatReplicas(*replicas.held)})
	}
	if image := w.Container.DefaultImage(); image != "" {
		config.WithAnnotations(map[string]string{workload.AnnotationDefaultImage: image})
	}
	return &Child{Config: config, Meta: config.ObjectMetaApplyConfiguration, Replicas: replicas.handover}
}

// strategy replaces the pods one after the other, unless it is to end them first. A new
// pod that waits for a claim which only the node of an old one may use would wait for
// ever, so such a claim, and one that is not there yet, ends the old pods first.
func strategy(w workload.Workload, o workload.Observed) *appsv1ac.DeploymentStrategyApplyConfiguration {
	kind := w.Rollout.Strategy
	if kind == "" {
		kind = appsv1.RollingUpdateDeploymentStrategyType
		for _, name := range w.References.Claims {
			if claim, ok := o.Claims[name]; !ok || claim.OneNode {
				kind = appsv1.RecreateDeploymentStrategyType
			}
		}
	}
	s := appsv1ac.DeploymentStrategy().WithType(kind)
	if kind == appsv1.RollingUpdateDeploymentStrategyType {
		s.WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
			WithMaxSurge(w.Rollout.MaxSurge).
			WithMaxUnavailable(w.Rollout.MaxUnavailable))
	}
	return s
}
