// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package translate turns the API kinds into workloads. Every error that a user can
// make ends here: what it returns without an error can be rendered.
package translate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// EGApp returns the workload of an EGApp, with the profile's choices for what it leaves
// open. The owner is filled in also when the error says which rules the EGApp breaks.
func EGApp(app *v1alpha1.EGApp, options Options) (workload.Workload, error) {
	owner := workload.Owner{
		GroupVersionKind: v1alpha1.GroupVersion.WithKind("EGApp"),
		Namespace:        app.Namespace,
		Name:             app.Name,
		UID:              app.UID,
		Generation:       app.Generation,
		Labels:           app.Labels,
		SelectorKey:      workload.LabelEGApp,
	}
	spec := field.NewPath("spec")
	errs := app.IsValid()
	if app.Spec.Image != "" {
		errs = append(errs, imageErrors(spec.Child("image"), app.Spec.Image)...)
	}
	errs = append(errs, platformErrors(spec, &app.Spec, options)...)
	if len(errs) > 0 {
		return workload.Workload{Owner: owner}, errs.ToAggregate()
	}
	w := workloadOf(app, options)
	w.Owner = owner
	errs = presetErrors(spec, &app.Spec, w)
	references, podErrs := resources.CheckPods(w)
	if errs = append(errs, podErrs...); len(errs) > 0 {
		return workload.Workload{Owner: owner}, errs.ToAggregate()
	}
	w.References = references
	return w, nil
}

// workloadOf resolves what a valid EGApp asks for and leaves open.
func workloadOf(app *v1alpha1.EGApp, options Options) workload.Workload {
	spec := &app.Spec
	framework, environment := profile.Frameworks[spec.Framework], profile.Environments[spec.Environment]
	w := workload.Workload{
		Paused:                        spec.Paused,
		Replicas:                      valueOr(spec.ReplicaCount, 1),
		ImagePullSecrets:              names(spec.ImagePullSecrets),
		Ports:                         ports(spec),
		Service:                       service(spec),
		Files:                         files(spec.Files),
		ServiceAccountName:            spec.ServiceAccountName,
		Autoscaling:                   autoscaling(spec.Autoscaling),
		Disruption:                    environment.Disruption,
		Exposure:                      exposure(app),
		Monitoring:                    monitoring(spec),
		NetworkPolicy:                 networkPolicy(app, options),
		Security:                      security(spec.SecurityProfile),
		Spread:                        environment.Spread,
		TerminationGracePeriodSeconds: environment.TerminationGracePeriodSeconds,
		PodTemplatePatch:              patch(spec.PodTemplatePatch),
	}
	w.Container = workload.Container{
		Name:                workload.ContainerName(spec.AppID, app.Name),
		Image:               spec.Image,
		ImagePullPolicy:     environment.ImagePullPolicy,
		Command:             spec.Command,
		Args:                spec.Args,
		Env:                 variables(spec.Env),
		EnvFrom:             spec.EnvFrom,
		Resources:           size(spec.InstanceType, spec.Resources),
		PreStopSleepSeconds: environment.PreStopSleepSeconds,
		ReadOnlyRoot:        framework.ReadOnlyRoot,
	}
	if spec.Image == "" {
		w.Container.Image = options.Images.For(spec.Framework)
		w.Container.DefaultOf = string(spec.Framework)
		w.Container.IsDemonstration = options.Images.IsDemonstration(spec.Framework)
	}
	if spec.ImagePullPolicy != "" {
		w.Container.ImagePullPolicy = spec.ImagePullPolicy
	}
	w.Container.PresetEnv = framework.Env(w.Container.Resources.Limits)
	w.Container.Startup, w.Container.Readiness, w.Container.Liveness = probes(spec, framework)
	w.Rollout = rollout(spec.Rollout, environment.Rollout, w.Container.Startup)
	return w
}

func names(references []corev1.LocalObjectReference) []string {
	var out []string
	for _, reference := range references {
		out = append(out, reference.Name)
	}
	return out
}

func valueOr[T any](pointer *T, otherwise T) T {
	if pointer == nil {
		return otherwise
	}
	return *pointer
}
