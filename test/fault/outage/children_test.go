// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/test/fault"
)

// eachChild calls back with the children of the applications in a namespace, each with its kind and name, and what controls
// it.
func (s *scene) eachChild(namespace string, call func(name string, child *unstructured.Unstructured, controller *metav1.OwnerReference)) {
	s.Helper()
	view, err := fault.List(s.Context(), s.objects, namespace)
	s.must(err)
	for _, kind := range resources.Kinds {
		for _, child := range view.Of(kind.Name) {
			if controller := metav1.GetControllerOf(child); controller != nil {
				call(kind.Name+" "+child.GetName(), child, controller)
			}
		}
	}
}

// child is what tells a child from others of its kind and name: its UID, and the name of its application.
type child struct {
	uid types.UID
	app string
}

// children returns the children in a namespace, by kind and name.
func (s *scene) children(namespace string) map[string]child {
	s.Helper()
	children := map[string]child{}
	s.eachChild(namespace, func(name string, object *unstructured.Unstructured, controller *metav1.OwnerReference) {
		children[name] = child{object.GetUID(), controller.Name}
	})
	return children
}

// expectSame tells of each child of before that is gone, or another one now.
func (s *scene) expectSame(before, now map[string]child) {
	s.Helper()
	for name, was := range before {
		switch is, isThere := now[name]; {
		case !isThere:
			s.violate("", "%s is gone", name)
		case is.uid != was.uid:
			s.violate("", "%s was made anew", name)
		}
	}
}

// owners returns the UIDs of the applications that control the children, by the children's kind and name.
func (s *staleScene) owners() map[string]types.UID {
	s.Helper()
	owners := map[string]types.UID{}
	s.eachChild(s.namespace, func(name string, _ *unstructured.Unstructured, controller *metav1.OwnerReference) {
		owners[name] = controller.UID
	})
	return owners
}

// generations returns how often the specification of each child was written.
func (s *staleScene) generations() map[string]int64 {
	s.Helper()
	generations := map[string]int64{}
	s.eachChild(s.namespace, func(name string, child *unstructured.Unstructured, _ *metav1.OwnerReference) {
		generations[name] = child.GetGeneration()
	})
	return generations
}

// eachChildOf calls back with the children of one application in a view.
func eachChildOf(view fault.View, app string, call func(name string, child *unstructured.Unstructured)) {
	for _, kind := range resources.Kinds {
		for _, child := range view.Of(kind.Name) {
			if controller := metav1.GetControllerOf(child); controller != nil && controller.Name == app {
				call(kind.Name+" "+child.GetName(), child)
			}
		}
	}
}

// kindOf returns the kind of an application.
func kindOf(app application) string {
	if _, isEGApp := app.(*v1alpha1.EGApp); isEGApp {
		return fault.EGApp
	}
	return fault.DemoMicroService
}
