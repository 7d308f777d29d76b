// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// +kubebuilder:webhook:path=/validate-egplatform-platform-evillgenius-com-v1alpha1-egapp,mutating=false,failurePolicy=ignore,sideEffects=None,groups=egplatform.platform.evillgenius.com,resources=egapps,verbs=create;update,versions=v1alpha1,name=vegapp.platform.evillgenius.com,admissionReviewVersions=v1,timeoutSeconds=5
// +kubebuilder:webhook:path=/validate-devops-my-domain-v1-demomicroservice,mutating=false,failurePolicy=ignore,sideEffects=None,groups=devops.my.domain,resources=demomicroservices,verbs=create;update,versions=v1,name=vdemomicroservice.platform.evillgenius.com,admissionReviewVersions=v1,timeoutSeconds=5

// Options are what the validation depends on, the same as the loop's.
type Options struct {
	// Translate are the choices of the platform.
	Translate translate.Options
	// Namespaces are those that the operator sees to; none means all. What is written
	// elsewhere is none of its business and passes.
	Namespaces []string
	// Platform returns what the cluster is and has; it is false while not all of that is known.
	Platform func() (workload.Platform, bool)
	// Duplicate says, in words for a person, which other EGApp has the appId of this one,
	// or nothing. It reads from the cache.
	Duplicate func(ctx context.Context, app *v1alpha1.EGApp) (string, error)
}

// SetupWithManager serves the validation of both kinds by the manager's webhook server.
func SetupWithManager(mgr manager.Manager, o Options) error {
	names := takenNames{live: mgr.GetAPIReader(), platform: o.Platform}
	if err := builder.WebhookManagedBy(mgr, &v1alpha1.EGApp{}).WithValidator(egapps(o, names.warnings)).Complete(); err != nil {
		return err
	}
	return builder.WebhookManagedBy(mgr, &devopsv1.DemoMicroService{}).WithValidator(demoMicroServices(o, names.warnings)).Complete()
}

// nameWarnings says which names an application needs and others have.
type nameWarnings func(ctx context.Context, w workload.Workload) []string

func egapps(o Options, names nameWarnings) *validator[*v1alpha1.EGApp] {
	return &validator[*v1alpha1.EGApp]{
		kind:       v1alpha1.GroupVersion.WithKind("EGApp").GroupKind(),
		namespaces: o.Namespaces,
		spec:       func(app *v1alpha1.EGApp) any { return app.Spec },
		translate:  func(app *v1alpha1.EGApp) (workload.Workload, error) { return translate.EGApp(app, o.Translate) },
		warnings: func(ctx context.Context, app *v1alpha1.EGApp) []string {
			return append(translate.Warnings(app, o.Translate), duplicateWarning(ctx, o, app)...)
		},
		names: names,
	}
}

func demoMicroServices(o Options, names nameWarnings) *validator[*devopsv1.DemoMicroService] {
	return &validator[*devopsv1.DemoMicroService]{
		kind:       devopsv1.GroupVersion.WithKind("DemoMicroService").GroupKind(),
		namespaces: o.Namespaces,
		spec:       func(service *devopsv1.DemoMicroService) any { return service.Spec },
		translate:  translate.DemoMicroService,
		warnings:   func(context.Context, *devopsv1.DemoMicroService) []string { return nil },
		names:      names,
	}
}
