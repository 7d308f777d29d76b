// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/workload"
)

// ingressAnnotationPrefixes are always allowed: of the two that give an application its
// certificate and its name.
var ingressAnnotationPrefixes = []string{"cert-manager.io/", "external-dns.alpha.kubernetes.io/"}

// serviceAnnotationPrefixes are always allowed: of load balancers, of what gives a Service
// its name and its certificate, and of what finds its metrics. None of them configures
// anything but the Service itself.
var serviceAnnotationPrefixes = []string{
	"service.beta.kubernetes.io/", "service.kubernetes.io/", "cloud.google.com/", "networking.gke.io/",
	"loadbalancer.openstack.org/", "metallb.io/", "metallb.universe.tf/", "io.cilium/", "lbipam.cilium.io/", "kube-vip.io/",
	"external-dns.alpha.kubernetes.io/", "service.beta.openshift.io/", "prometheus.io/",
}

// ServiceAnnotationPrefixes returns the prefixes of the annotations that a Service may
// have on every platform.
func ServiceAnnotationPrefixes() []string { return slices.Clone(serviceAnnotationPrefixes) }

// platformErrors returns the rules that the platform sets and the EGApp breaks.
func platformErrors(spec *field.Path, s *v1alpha1.EGAppSpec, options Options) field.ErrorList {
	var errs field.ErrorList
	if s.Service != nil {
		errs = append(errs, annotationsErrors(spec.Child("service", "annotations"), s.Service.Annotations,
			slices.Concat(serviceAnnotationPrefixes, options.ServiceAnnotationPrefixes))...)
	}
	if s.Expose != nil && s.Expose.Ingress != nil {
		errs = append(errs, annotationsErrors(spec.Child("expose", "ingress", "annotations"), s.Expose.Ingress.Annotations,
			slices.Concat(ingressAnnotationPrefixes, options.IngressAnnotationPrefixes))...)
	}
	if s.Monitoring != nil {
		path := spec.Child("monitoring", "labels")
		for _, key := range slices.Sorted(maps.Keys(s.Monitoring.Labels)) {
			if isOurs(key) {
				errs = append(errs, field.Forbidden(path.Key(key), "is set by the platform"))
			}
		}
	}
	return errs
}

// annotationsErrors keeps annotations away that reconfigure a controller which the whole
// cluster shares, or that speak to the operator itself.
func annotationsErrors(path *field.Path, annotations map[string]string, allowed []string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if reason := refusedAnnotation(key, allowed); reason != "" {
			errs = append(errs, field.Forbidden(path.Key(key), reason))
		}
	}
	return errs
}

// refusedAnnotation says why an annotation is refused, or nothing. Snippets are configuration
// itself, and our own keys steer the operator, so no prefix allows either.
func refusedAnnotation(key string, allowed []string) string {
	switch {
	case isOurs(key):
		return "is the platform's own: remove it"
	case strings.Contains(strings.ToLower(key), "snippet"):
		return "snippets are not allowed: they would configure for everybody what carries the traffic of the cluster"
	case slices.ContainsFunc(allowed, func(prefix string) bool { return prefix != "" && strings.HasPrefix(key, prefix) }):
		return ""
	}
	return "must begin with one of the prefixes that the platform allows: " + strings.Join(allowed, ", ")
}

// isOurs tells whether a label or an annotation is one by which the operator knows its
// objects, or is steered. Domains are compared without regard to case, as those of
// annotations may be written in any.
func isOurs(key string) bool {
	domain, _, _ := strings.Cut(strings.ToLower(key), "/")
	for _, ours := range []string{workload.LabelManagedBy, workload.LabelDemoMicroService} {
		own, _, _ := strings.Cut(ours, "/")
		if domain == own || strings.HasSuffix(domain, "."+own) {
			return true
		}
	}
	return key == workload.LabelName || key == workload.LabelAppManagedBy
}

// presetErrors returns the rules that a valid EGApp breaks with what the presets add.
func presetErrors(spec *field.Path, s *v1alpha1.EGAppSpec, w workload.Workload) field.ErrorList {
	var errs field.ErrorList
	if a := w.Autoscaling; a != nil {
		path := spec.Child("autoscaling")
		for _, target := range []struct {
			field    string
			given    *int32
			resource corev1.ResourceName
		}{
			{"targetCPUUtilizationPercentage", a.TargetCPU, corev1.ResourceCPU},
			{"targetMemoryUtilizationPercentage", a.TargetMemory, corev1.ResourceMemory},
		} {
			if request := w.Container.Resources.Requests[target.resource]; target.given != nil && request.IsZero() {
				errs = append(errs, field.Invalid(path.Child(target.field), *target.given,
					fmt.Sprintf("needs a request of %s to be a percentage of, but spec.resources.requests.%s is 0", target.resource, target.resource)))
			}
		}
	}
	if settling := w.Rollout.MinReadySeconds; w.Rollout.ProgressDeadlineSeconds <= settling {
		errs = append(errs, field.Invalid(spec.Child("rollout", "progressDeadlineSeconds"), w.Rollout.ProgressDeadlineSeconds,
			fmt.Sprintf("must be greater than %d: so many seconds must a pod be ready in %s before it counts", settling, s.Environment)))
	}
	return errs
}
