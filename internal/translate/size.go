// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
)

// size returns the requests and limits of an instance type with single entries overridden.
// An overridden limit below the request lowers the request, an overridden request above
// the limit raises the limit. An overridden limit of 0 is no limit.
func size(instanceType v1alpha1.InstanceType, override *v1alpha1.Resources) corev1.ResourceRequirements {
	if instanceType == "" {
		instanceType = v1alpha1.InstanceTypeLowMem
	}
	preset := profile.InstanceTypes[instanceType]
	out := corev1.ResourceRequirements{Requests: maps.Clone(preset.Requests), Limits: maps.Clone(preset.Limits)}
	if override == nil {
		return out
	}
	for name, request := range override.Requests {
		out.Requests[name] = canonical(name, request)
		if limit, limited := out.Limits[name]; limited && limit.Cmp(request) < 0 {
			out.Limits[name] = out.Requests[name]
		}
	}
	for name, limit := range override.Limits {
		if limit.IsZero() && isUnlimited(name) {
			delete(out.Limits, name)
			continue
		}
		out.Limits[name] = canonical(name, limit)
		if request, requested := out.Requests[name]; requested && request.Cmp(limit) > 0 {
			out.Requests[name] = out.Limits[name]
		}
	}
	return out
}

// isUnlimited tells whether a container without a limit of the resource may use what is
// idle. Of the others it has what the limit says, and 0 is none of them.
func isUnlimited(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// canonical spells a quantity as the presets do, however it was written, so that an equal
// size is an equal pod template: bytes with binary suffixes, all else with decimal ones.
func canonical(name corev1.ResourceName, quantity resource.Quantity) resource.Quantity {
	format := resource.BinarySI
	if name == corev1.ResourceCPU || v1alpha1.IsExtendedResource(name) {
		format = resource.DecimalSI
	}
	// AsDec changes what it is called on.
	decimal := quantity.DeepCopy()
	return resource.MustParse(resource.NewDecimalQuantity(*decimal.AsDec(), format).String())
}
