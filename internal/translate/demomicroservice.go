// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/internal/workload"
)

// DemoMicroService returns the workload of a DemoMicroService: one pod of its image. An
// image does not tell its port, so it has no Service and no probes. The owner is filled
// in also when the error says which rules the DemoMicroService breaks.
func DemoMicroService(service *devopsv1.DemoMicroService) (workload.Workload, error) {
	w := workload.Workload{Owner: workload.Owner{
		GroupVersionKind: devopsv1.GroupVersion.WithKind("DemoMicroService"),
		Namespace:        service.Namespace,
		Name:             service.Name,
		UID:              service.UID,
		Generation:       service.Generation,
		Labels:           service.Labels,
		SelectorKey:      workload.LabelDemoMicroService,
	}}
	errs := service.IsValid()
	if service.Spec.Image != "" {
		errs = append(errs, imageErrors(field.NewPath("spec", "image"), service.Spec.Image)...)
	}
	if len(errs) > 0 {
		return w, errs.ToAggregate()
	}
	w.Replicas = 1
	w.Container = workload.Container{Name: service.Name, Image: service.Spec.Image}
	w.Rollout = workload.Rollout{
		MaxSurge: intstr.FromInt32(1), MaxUnavailable: intstr.FromInt32(0), ProgressDeadlineSeconds: 600,
		// Without a probe a pod counts as ready as soon as it starts: one that ends again at
		// once must not make the service Ready between its restarts.
		MinReadySeconds: 10,
	}
	w.Security = workload.SecurityBaseline
	w.TerminationGracePeriodSeconds = 30
	return w, nil
}
