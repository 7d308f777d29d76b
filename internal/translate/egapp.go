// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package translate turns the API kinds into workloads. Every error that a user can
// make ends here: what it returns without an error can be rendered.
package translate

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
	"platformapp/internal/workload"
)

// EGApp returns the workload of an EGApp, with the profile's choices for what it leaves
// open. The owner is filled in also when the error says which rules the EGApp breaks.
func EGApp(app *v1alpha1.EGApp, images profile.Images) (workload.Workload, error) {
	w := workload.Workload{Owner: workload.Owner{
		GroupVersionKind: v1alpha1.GroupVersion.WithKind("EGApp"),
		Namespace:        app.Namespace,
		Name:             app.Name,
		UID:              app.UID,
		Generation:       app.Generation,
		Labels:           app.Labels,
		SelectorKey:      workload.LabelEGApp,
	}}
	image := app.Spec.Image
	if image == "" {
		image = images.For(app.Spec.Framework)
	}
	errs := append(app.IsValid(), imageErrors(field.NewPath("spec", "image"), image)...)
	if len(errs) > 0 {
		return w, errs.ToAggregate()
	}

	instanceType := app.Spec.InstanceType
	if instanceType == "" {
		instanceType = v1alpha1.InstanceTypeLowMem
	}
	framework := profile.Frameworks[app.Spec.Framework]
	resources := profile.InstanceTypes[instanceType]
	environment := profile.Environments[app.Spec.Environment]

	w.Replicas = 1
	if app.Spec.ReplicaCount != nil {
		w.Replicas = *app.Spec.ReplicaCount
	}
	w.Container = workload.Container{
		Name:                workload.ContainerName(app.Spec.AppID, app.Name),
		Image:               image,
		ImagePullPolicy:     environment.ImagePullPolicy,
		Env:                 framework.Env(resources.Limits),
		Resources:           resources,
		PreStopSleepSeconds: environment.PreStopSleepSeconds,
		Probes:              &workload.Probes{Port: profile.Port.ContainerPort, Startup: framework.Startup, Readiness: framework.Readiness},
	}
	w.Ports = []workload.Port{profile.Port}
	w.Rollout = environment.Rollout
	w.Security = workload.SecurityRestricted
	w.Spread = environment.Spread
	w.TerminationGracePeriodSeconds = environment.TerminationGracePeriodSeconds
	return w, nil
}
