// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Frameworks lists the frameworks in the order of the schema.
func Frameworks() []Framework { return []Framework{FrameworkJava, FrameworkPython, FrameworkGo} }

// InstanceTypes lists the instance types in the order of the schema.
func InstanceTypes() []InstanceType {
	return []InstanceType{InstanceTypeLowMem, InstanceTypeHighMem, InstanceTypeHighCPU, InstanceTypeBalanced}
}

// Environments lists the environments in the order of the schema.
func Environments() []Environment {
	return []Environment{EnvironmentDev, EnvironmentStage, EnvironmentProd}
}

// IsValid returns every rule that the object breaks, each with its field, or nil. It
// repeats the rules of the schema, for objects that were stored before a rule came.
func (a *EGApp) IsValid() field.ErrorList {
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1035Label(a.Name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), a.Name, msg))
	}
	spec := field.NewPath("spec")
	for _, msg := range validation.IsValidLabelValue(a.Spec.AppID) {
		errs = append(errs, field.Invalid(spec.Child("appId"), a.Spec.AppID, msg))
	}
	errs = append(errs, oneOf(spec.Child("framework"), a.Spec.Framework, Frameworks())...)
	if a.Spec.InstanceType != "" {
		errs = append(errs, oneOf(spec.Child("instanceType"), a.Spec.InstanceType, InstanceTypes())...)
	}
	errs = append(errs, oneOf(spec.Child("environment"), a.Spec.Environment, Environments())...)
	if n := a.Spec.ReplicaCount; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(spec.Child("replicaCount"), *n, "must be greater than or equal to 0"))
	}
	return errs
}

func oneOf[T ~string](path *field.Path, value T, allowed []T) field.ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return field.ErrorList{field.NotSupported(path, value, allowed)}
}
