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

// IsValid returns every rule that the object breaks, each with its field, or nil: the rules
// of the schema, for objects that were stored before a rule came, and those that a schema
// cannot say or must not freeze. What depends on presets or on the platform's settings is
// judged where they are known, in the translation.
func (a *EGApp) IsValid() field.ErrorList {
	spec, s := field.NewPath("spec"), &a.Spec
	return slices.Concat(
		a.validateIdentity(spec),
		validateScale(spec, s),
		validatePorts(spec.Child("ports"), s),
		validateService(spec.Child("service"), s),
		validateExpose(spec.Child("expose"), s),
		validateEnv(spec.Child("env"), s.Env),
		validateEnvFrom(spec.Child("envFrom"), s.EnvFrom),
		validateResources(spec.Child("resources"), s.Resources),
		validateProbes(spec.Child("probes"), s),
		validateFiles(spec.Child("files"), s.Files),
		validatePod(spec, s),
		validateMonitoring(spec.Child("monitoring"), s),
		validateNetworkPolicy(spec.Child("networkPolicy"), s.NetworkPolicy),
	)
}

// validateIdentity judges what says which application it is.
func (a *EGApp) validateIdentity(spec *field.Path) field.ErrorList {
	errs := invalid(field.NewPath("metadata", "name"), a.Name, validation.IsDNS1035Label(a.Name))
	errs = append(errs, invalid(spec.Child("appId"), a.Spec.AppID, validation.IsValidLabelValue(a.Spec.AppID))...)
	errs = append(errs, oneOf(spec.Child("framework"), a.Spec.Framework, Frameworks())...)
	errs = append(errs, optionalOneOf(spec.Child("instanceType"), a.Spec.InstanceType, InstanceTypes())...)
	errs = append(errs, oneOf(spec.Child("environment"), a.Spec.Environment, Environments())...)
	return errs
}

// validateScale judges how many pods are asked for.
func validateScale(spec *field.Path, s *EGAppSpec) field.ErrorList {
	errs := atLeast(spec.Child("replicaCount"), s.ReplicaCount, 0)
	a := s.Autoscaling
	if a == nil {
		return errs
	}
	path := spec.Child("autoscaling")
	errs = append(errs, atLeast(path.Child("minReplicas"), a.MinReplicas, 1)...)
	errs = append(errs, atLeast(path.Child("maxReplicas"), &a.MaxReplicas, 1)...)
	errs = append(errs, atLeast(path.Child("targetCPUUtilizationPercentage"), a.TargetCPUUtilizationPercentage, 1)...)
	errs = append(errs, atLeast(path.Child("targetMemoryUtilizationPercentage"), a.TargetMemoryUtilizationPercentage, 1)...)
	if a.MinReplicas != nil && *a.MinReplicas > a.MaxReplicas {
		errs = append(errs, field.Invalid(path.Child("minReplicas"), *a.MinReplicas, "must not be greater than maxReplicas"))
	}
	if a.TargetCPUUtilizationPercentage == nil && a.TargetMemoryUtilizationPercentage == nil {
		errs = append(errs, field.Required(path, "give targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage or both: without a target nothing decides how many pods run"))
	}
	return errs
}
