// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// list returns the objects in a namespace of the kind of an example.
func (s *scene) list(namespace string, example client.Object) []unstructured.Unstructured {
	s.Helper()
	gvk, err := apiutil.GVKForObject(example, s.admin.Scheme())
	if err != nil {
		s.Fatal(err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := s.admin.List(s.Context(), list, client.InNamespace(namespace)); err != nil {
		s.Fatal(err)
	}
	return list.Items
}

// children returns the children in a namespace, of all applications, by kind and name.
func (s *scene) children(namespace string) map[string]unstructured.Unstructured {
	s.Helper()
	children := map[string]unstructured.Unstructured{}
	for _, kind := range resources.Kinds {
		for _, object := range s.list(namespace, kind.New()) {
			if object.GetLabels()[workload.LabelManagedBy] == workload.ManagedBy {
				children[kind.Name+" "+object.GetName()] = object
			}
		}
	}
	return children
}

// snapshot returns what an upgrade of the operator must leave alone, by kind and name: the children with their identity,
// labels, annotations and specification, and the ReplicaSets and pods of their Deployments with their identity.
func (s *scene) snapshot(namespace string) map[string]string {
	s.Helper()
	shot := map[string]string{}
	for key, child := range s.children(namespace) {
		shot[key] = string(child.GetUID()) + " " + s.asked(child)
	}
	for _, example := range []client.Object{&appsv1.ReplicaSet{}, &corev1.Pod{}} {
		for _, object := range s.list(namespace, example) {
			shot[object.GetKind()+" "+object.GetName()] = string(object.GetUID())
		}
	}
	return shot
}

// asked returns all of an object but its status and what the API server keeps beside, as JSON.
func (s *scene) asked(object unstructured.Unstructured) string {
	s.Helper()
	content := map[string]any{}
	for field, value := range object.Object {
		if field != "status" && field != "metadata" {
			content[field] = value
		}
	}
	content["labels"], content["annotations"], content["owners"] = object.GetLabels(), object.GetAnnotations(), object.GetOwnerReferences()
	text, err := json.Marshal(content)
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// allocated are the fields of a Service that the API server chooses.
var allocated = [][]string{{"spec", "clusterIP"}, {"spec", "clusterIPs"}, {"spec", "healthCheckNodePort"}}

// likeness returns the children of an application by kind, without their names, and those of the application, its UID, and
// what the API server chose: two applications that ask for the same have the same.
func (s *scene) likeness(app application) map[string]string {
	s.Helper()
	anonymous := strings.NewReplacer(string(app.GetUID()), "<uid>", app.GetName(), "<name>")
	likeness := map[string]string{}
	for _, child := range s.children(app.GetNamespace()) {
		if !metav1.IsControlledBy(&child, app) {
			continue
		}
		child = *child.DeepCopy()
		for _, path := range allocated {
			unstructured.RemoveNestedField(child.Object, path...)
		}
		ports, _, _ := unstructured.NestedSlice(child.Object, "spec", "ports")
		for _, port := range ports {
			if port, ok := port.(map[string]any); ok {
				delete(port, "nodePort")
			}
		}
		if ports != nil {
			if err := unstructured.SetNestedSlice(child.Object, ports, "spec", "ports"); err != nil {
				s.Fatal(err)
			}
		}
		annotations := child.GetAnnotations()
		// The one is of the owner's UID too, the other counts the rollouts on the way.
		delete(annotations, workload.AnnotationAppliedHash)
		delete(annotations, "deployment.kubernetes.io/revision")
		child.SetAnnotations(annotations)
		key := anonymous.Replace(child.GetKind() + " " + child.GetName())
		likeness[key] = anonymous.Replace(s.asked(child))
	}
	return likeness
}

// statuses returns the statuses of the applications in a namespace, by name.
func (s *scene) statuses(namespace string) map[string]any {
	s.Helper()
	example, _ := s.kind.make(namespace, "example").(client.Object)
	statuses := map[string]any{}
	for _, app := range s.list(namespace, example) {
		statuses[app.GetName()] = app.Object["status"]
	}
	return statuses
}

// lost returns what of a value is not in another any more, or is otherwise: fields that were added do not count.
func lost(path string, before, after any) []string {
	was, isMap := before.(map[string]any)
	is, stillMap := after.(map[string]any)
	if isMap && stillMap {
		var all []string
		for field, value := range was {
			all = append(all, lost(path+"."+field, value, is[field])...)
		}
		return all
	}
	wasList, isList := before.([]any)
	list, stillList := after.([]any)
	if isList && stillList && len(wasList) == len(list) {
		var all []string
		for i := range wasList {
			all = append(all, lost(fmt.Sprintf("%s[%d]", path, i), wasList[i], list[i])...)
		}
		return all
	}
	if a, b := fmt.Sprint(before), fmt.Sprint(after); a != b {
		return []string{fmt.Sprintf("%s was %s and is %s", path, a, b)}
	}
	return nil
}
