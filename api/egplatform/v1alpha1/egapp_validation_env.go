// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateEnv judges the environment variables. No error repeats a value: it may be secret.
func validateEnv(path *field.Path, env []EnvVar) field.ErrorList {
	errs := atMost(path, len(env), 256)
	seen := map[string]bool{}
	for i, variable := range env {
		item := path.Index(i)
		if variable.Name == "" {
			errs = append(errs, field.Required(item.Child("name"), "give the variable a name"))
			continue
		}
		errs = append(errs, noLongerThan(item.Child("name"), variable.Name, 1024)...)
		errs = append(errs, noLongerThan(item.Child("value"), variable.Value, longestArgument)...)
		errs = append(errs, invalid(item.Child("name"), variable.Name, validation.IsRelaxedEnvVarName(variable.Name))...)
		if seen[variable.Name] {
			errs = append(errs, field.Duplicate(item.Child("name"), variable.Name))
		}
		seen[variable.Name] = true
		if variable.ValueFrom == nil {
			continue
		}
		if variable.Value != "" {
			errs = append(errs, field.Forbidden(item.Child("valueFrom"), "value and valueFrom must not both be given"))
		}
		errs = append(errs, validateEnvSource(item.Child("valueFrom"), variable.ValueFrom)...)
	}
	return errs
}

func validateEnvSource(path *field.Path, source *EnvVarSource) field.ErrorList {
	var errs field.ErrorList
	given := 0
	if ref := source.FieldRef; ref != nil {
		given++
		errs = append(errs, validateFieldRef(path.Child("fieldRef"), ref)...)
	}
	if ref := source.ResourceFieldRef; ref != nil {
		given++
		errs = append(errs, validateResourceFieldRef(path.Child("resourceFieldRef"), ref)...)
	}
	if ref := source.ConfigMapKeyRef; ref != nil {
		given++
		errs = append(errs, validateKeyRef(path.Child("configMapKeyRef"), ref.Name, ref.Key)...)
	}
	if ref := source.SecretKeyRef; ref != nil {
		given++
		errs = append(errs, validateKeyRef(path.Child("secretKeyRef"), ref.Name, ref.Key)...)
	}
	if ref := source.FileKeyRef; ref != nil {
		given++
		errs = append(errs, validateFileKeyRef(path.Child("fileKeyRef"), ref)...)
	}
	return append(errs, exactlyOne(path, given, "fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef and fileKeyRef")...)
}

func validateKeyRef(path *field.Path, name, key string) field.ErrorList {
	return append(objectName(path.Child("name"), name), configKey(path.Child("key"), key)...)
}

func configKey(path *field.Path, key string) field.ErrorList {
	if key == "" {
		return field.ErrorList{field.Required(path, "give the key")}
	}
	return invalid(path, key, validation.IsConfigMapKey(key))
}

func validateFileKeyRef(path *field.Path, ref *FileKeySelector) field.ErrorList {
	var errs field.ErrorList
	for _, required := range []struct {
		name, value string
		most        int
	}{{"volumeName", ref.VolumeName, 253}, {"path", ref.Path, 4096}, {"key", ref.Key, 1024}} {
		errs = append(errs, noLongerThan(path.Child(required.name), required.value, required.most)...)
		if required.value == "" {
			errs = append(errs, field.Required(path.Child(required.name), "a variable in a file needs volumeName, path and key"))
		}
	}
	if ref.Key != "" {
		errs = append(errs, invalid(path.Child("key"), ref.Key, validation.IsRelaxedEnvVarName(ref.Key))...)
	}
	return append(errs, descendingPath(path.Child("path"), ref.Path)...)
}

// The fields of a pod that a variable may have as its value
// (https://kubernetes.io/docs/concepts/workloads/pods/downward-api/).
var podFields = []string{
	"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
	"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs", "metadata.labels['<key>']", "metadata.annotations['<key>']",
}

func validateFieldRef(path *field.Path, ref *corev1.ObjectFieldSelector) field.ErrorList {
	var errs field.ErrorList
	if ref.APIVersion != "" && ref.APIVersion != "v1" {
		errs = append(errs, field.NotSupported(path.Child("apiVersion"), ref.APIVersion, []string{"v1"}))
	}
	fieldPath := path.Child("fieldPath")
	if subject, key, ok := strings.Cut(ref.FieldPath, "['"); ok && strings.HasSuffix(key, "']") && (subject == "metadata.labels" || subject == "metadata.annotations") {
		key = strings.TrimSuffix(key, "']")
		if subject == "metadata.annotations" {
			// Keys of annotations, unlike those of labels, are compared without regard to case.
			key = strings.ToLower(key)
		}
		return append(errs, invalid(fieldPath, ref.FieldPath, validation.IsQualifiedName(key))...)
	}
	if !slices.Contains(podFields, ref.FieldPath) {
		errs = append(errs, field.NotSupported(fieldPath, ref.FieldPath, podFields))
	}
	return errs
}

// The resources and units that a variable may have as its value.
var (
	resourceFields = []string{
		"limits.cpu", "limits.memory", "limits.ephemeral-storage", "limits.hugepages-<size>",
		"requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.hugepages-<size>",
	}
	cpuDivisors  = []string{"1m", "1"}
	byteDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
)

func validateResourceFieldRef(path *field.Path, ref *corev1.ResourceFieldSelector) field.ErrorList {
	hugePages := strings.HasPrefix(ref.Resource, "limits.hugepages-") || strings.HasPrefix(ref.Resource, "requests.hugepages-")
	if !hugePages && !slices.Contains(resourceFields, ref.Resource) {
		return field.ErrorList{field.NotSupported(path.Child("resource"), ref.Resource, resourceFields)}
	}
	divisors := byteDivisors
	if strings.HasSuffix(ref.Resource, ".cpu") {
		divisors = cpuDivisors
	}
	if divisor := ref.Divisor.String(); !ref.Divisor.IsZero() && !slices.Contains(divisors, divisor) {
		return field.ErrorList{field.NotSupported(path.Child("divisor"), divisor, divisors)}
	}
	return nil
}

// validateEnvFrom judges the ConfigMaps and Secrets whose keys are variables.
func validateEnvFrom(path *field.Path, sources []corev1.EnvFromSource) field.ErrorList {
	errs := atMost(path, len(sources), 64)
	for i, source := range sources {
		item := path.Index(i)
		if source.Prefix != "" {
			errs = append(errs, invalid(item.Child("prefix"), source.Prefix, validation.IsRelaxedEnvVarName(source.Prefix))...)
		}
		given := 0
		if ref := source.ConfigMapRef; ref != nil {
			given++
			errs = append(errs, objectName(item.Child("configMapRef", "name"), ref.Name)...)
		}
		if ref := source.SecretRef; ref != nil {
			given++
			errs = append(errs, objectName(item.Child("secretRef", "name"), ref.Name)...)
		}
		errs = append(errs, exactlyOne(item, given, "configMapRef and secretRef")...)
	}
	return errs
}
