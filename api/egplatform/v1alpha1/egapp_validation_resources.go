// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateResources judges requests and limits as they are given; what the instance type
// adds is made to fit them.
func validateResources(path *field.Path, r *Resources) field.ErrorList {
	if r == nil {
		return nil
	}
	var errs field.ErrorList
	for _, side := range []struct {
		name string
		list corev1.ResourceList
	}{{"limits", r.Limits}, {"requests", r.Requests}} {
		errs = append(errs, atMost(path.Child(side.name), len(side.list), 64)...)
		for _, name := range slices.Sorted(maps.Keys(side.list)) {
			errs = append(errs, validateQuantity(path.Child(side.name).Key(string(name)), name, side.list[name])...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		errs = append(errs, validateRequest(path, name, r)...)
	}
	return errs
}

// validateQuantity judges the name and the size of one request or limit.
func validateQuantity(path *field.Path, name corev1.ResourceName, quantity resource.Quantity) field.ErrorList {
	errs := validateResourceName(path, name)
	if len(errs) > 0 {
		return errs
	}
	if quantity.Sign() < 0 {
		return field.ErrorList{field.Invalid(path, quantity.String(), "must be greater than or equal to 0")}
	}
	if size, ok := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix); ok {
		page, err := resource.ParseQuantity(size)
		switch {
		case err != nil || page.Sign() <= 0:
			return field.ErrorList{field.Invalid(path, string(name), "must end with the size of a page, as in hugepages-2Mi")}
		case quantity.Value()%page.Value() != 0:
			return field.ErrorList{field.Invalid(path, quantity.String(), "must be a multiple of the size of a page, "+size)}
		}
	}
	if _, whole := quantity.AsScale(0); IsExtendedResource(name) && !whole {
		return field.ErrorList{field.Invalid(path, quantity.String(), "must be a whole number: "+string(name)+" is not divisible")}
	}
	return nil
}

func validateResourceName(path *field.Path, name corev1.ResourceName) field.ErrorList {
	switch {
	case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, isHugePages(name):
		return nil
	case IsExtendedResource(name):
		return invalid(path, string(name), validation.IsQualifiedName(string(name)))
	}
	return field.ErrorList{field.Invalid(path, string(name), "must be cpu, memory, ephemeral-storage, hugepages-<size> or a resource with a domain outside kubernetes.io, such as nvidia.com/gpu")}
}

// validateRequest judges one request beside its limit. A limit of 0 is none.
func validateRequest(path *field.Path, name corev1.ResourceName, r *Resources) field.ErrorList {
	request := r.Requests[name]
	limit, limited := r.Limits[name]
	at := path.Child("requests").Key(string(name))
	switch {
	case !isShared(name) && !limited:
		return field.ErrorList{field.Required(path.Child("limits").Key(string(name)), "give the limit, and leave the request out or make it equal: "+string(name)+" is not shared between pods")}
	case !isShared(name) && request.Cmp(limit) != 0:
		return field.ErrorList{field.Invalid(at, request.String(), "must be equal to the limit of "+limit.String()+", or left out: "+string(name)+" is not shared between pods")}
	case isShared(name) && limited && !limit.IsZero() && request.Cmp(limit) > 0:
		return field.ErrorList{field.Invalid(at, request.String(), "must be less than or equal to the limit of "+limit.String())}
	}
	return nil
}

// IsExtendedResource tells whether a resource is of a device or another thing that a
// cluster was extended with, such as nvidia.com/gpu: counted in whole numbers, and never
// promised to more pods than there is of it.
func IsExtendedResource(name corev1.ResourceName) bool {
	domain, _, ok := strings.Cut(string(name), "/")
	return ok && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io") && !strings.HasPrefix(domain, "requests.")
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// isShared tells whether limits may add up to more than there is.
func isShared(name corev1.ResourceName) bool { return !IsExtendedResource(name) && !isHugePages(name) }
