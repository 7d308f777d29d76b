// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"platformapp/internal/workload"
)

// leniency says what of the children may depend on how the application came to where it is.
type leniency struct {
	// replicas: an autoscaler may have chosen another number, which stays.
	replicas bool
	// configHash: pods keep the hash of configuration that is away by now, or whose changes they are to ignore.
	configHash bool
}

// leniencyFor tells what of the children of one application is not that of another one.
func leniencyFor(r, other record, configHash bool) leniency {
	l := leniency{configHash: configHash}
	for id, child := range r.children {
		_, overridden := child.GetAnnotations()[workload.AnnotationOverriddenReplicas]
		_, held := child.GetAnnotations()[workload.AnnotationHeldReplicas]
		l.replicas = l.replicas || overridden || held || strings.HasPrefix(id, workload.KindHorizontalPodAutoscaler)
	}
	for id := range other.children {
		l.replicas = l.replicas || strings.HasPrefix(id, workload.KindHorizontalPodAutoscaler)
	}
	return l
}

// normal returns the children as they would be for any application of another name: without what the API server adds,
// what others write, and what tells one application from another.
func (r record) normal(l leniency) map[string]string {
	out := map[string]string{}
	if r.app == nil {
		return out
	}
	names := strings.NewReplacer(
		r.app.GetName(), "NAME", string(r.app.GetUID()), "UID", r.app.GetNamespace(), "NAMESPACE")
	for id, child := range r.children {
		child = withoutServersOwn(child.DeepCopy())
		if l.replicas {
			unstructured.RemoveNestedField(child.Object, "spec", "replicas")
		}
		if l.configHash {
			unstructured.RemoveNestedField(child.Object,
				"spec", "template", "metadata", "annotations", workload.AnnotationConfigHash)
		}
		out[names.Replace(id)] = names.Replace(text(withoutEmpty(child.Object)))
	}
	return out
}

// withoutEmpty takes from a value the fields that hold nothing: an apply that empties an object removes it.
func withoutEmpty(value any) any {
	if list, isList := value.([]any); isList {
		items := make([]any, len(list))
		for i, item := range list {
			items[i] = withoutEmpty(item)
		}
		return items
	}
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for name, field := range object {
		field = withoutEmpty(field)
		if below, isObject := field.(map[string]any); isObject && len(below) == 0 && name != "emptyDir" {
			continue
		}
		out[name] = field
	}
	return out
}

// withoutServersOwn takes from an object what the API server decides, and the status.
func withoutServersOwn(object *unstructured.Unstructured) *unstructured.Unstructured {
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(object.Object, "status")
	annotations := object.GetAnnotations()
	delete(annotations, workload.AnnotationAppliedHash)
	delete(annotations, workload.AnnotationOverriddenReplicas)
	delete(annotations, workload.AnnotationHeldReplicas)
	object.SetAnnotations(annotations)
	if object.GetKind() != "Service" {
		return object
	}
	if ip, _, _ := unstructured.NestedString(object.Object, "spec", "clusterIP"); ip != "None" {
		unstructured.RemoveNestedField(object.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(object.Object, "spec", "clusterIPs")
	}
	unstructured.RemoveNestedField(object.Object, "spec", "healthCheckNodePort")
	ports, _, _ := unstructured.NestedSlice(object.Object, "spec", "ports")
	for _, port := range ports {
		delete(port.(map[string]any), "nodePort")
	}
	if len(ports) > 0 {
		_ = unstructured.SetNestedSlice(object.Object, ports, "spec", "ports")
	}
	return object
}
