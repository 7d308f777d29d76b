// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// check fails until something holds.
type check = func(View) error

// all holds when all the checks do.
func all(checks ...check) check {
	return func(v View) error {
		for _, c := range checks {
			if err := c(v); err != nil {
				return err
			}
		}
		return nil
	}
}

// runs holds when the application of a kind reports that it is Ready and so many pods run.
func runs(kind, name string, pods int) check {
	return func(v View) error {
		ready, err := v.Ready(kind, name)
		if err != nil {
			return err
		}
		running, err := v.runningPods(name)
		switch {
		case err != nil:
			return err
		case ready.Status != metav1.ConditionTrue:
			return fmt.Errorf("%s %s is not ready: %s: %s", kind, name, ready.Reason, ready.Message)
		case running != pods:
			return fmt.Errorf("%d pods run, want %d", running, pods)
		}
		return nil
	}
}

// reports holds when the Ready condition of the application has a reason.
func reports(kind, name, reason string) check {
	return func(v View) error {
		ready, err := v.Ready(kind, name)
		if err != nil {
			return err
		}
		if ready.Reason != reason {
			return fmt.Errorf("%s %s reports Ready=%s %s: %s", kind, name, ready.Status, ready.Reason, ready.Message)
		}
		return nil
	}
}

// present holds when the application controls an object of its name of each kind.
func present(name string, kinds ...string) check {
	return func(v View) error {
		for _, kind := range kinds {
			object := v.Get(kind, name)
			if object == nil {
				return fmt.Errorf("there is no %s %s", kind, name)
			}
			if controller := metav1.GetControllerOf(object); controller == nil || controller.Name != name {
				return fmt.Errorf("%s %s is not controlled by the application", kind, name)
			}
		}
		return nil
	}
}

// absent holds when there is no object of the name of each kind.
func absent(name string, kinds ...string) check {
	return func(v View) error {
		for _, kind := range kinds {
			if v.Get(kind, name) != nil {
				return fmt.Errorf("there is still a %s %s", kind, name)
			}
		}
		return nil
	}
}

// gone holds when nothing is left of the applications of a kind.
func gone(kind string) check {
	return func(v View) error {
		kinds := append([]string{kind, "ReplicaSet", "Pod"}, childKinds...)
		for _, k := range kinds {
			for _, object := range v.Of(k) {
				if k == "ConfigMap" && metav1.GetControllerOf(object) == nil {
					continue
				}
				return fmt.Errorf("there is still a %s %s", k, object.GetName())
			}
		}
		return nil
	}
}

// has holds when a field of an object, given by its path, has a value.
func has(kind, name string, want any, path ...string) check {
	return func(v View) error {
		object := v.Get(kind, name)
		if object == nil {
			return fmt.Errorf("there is no %s %s", kind, name)
		}
		got, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
		if err != nil {
			return err
		}
		if !found && want == nil {
			return nil
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("%v of %s %s is %v, want %v", path, kind, name, got, want)
		}
		return nil
	}
}

// rolledOut holds when the Deployment has rolled out pod templates so many times, the first included.
func rolledOut(name string, times int) check {
	return has("Deployment", name, times, "metadata", "annotations", "deployment.kubernetes.io/revision")
}

// container holds when the Deployment has so many containers and the one that is named after it runs an image.
func container(name, image string, containers int) check {
	return func(v View) error {
		deployment, err := read[appsv1.Deployment](v, "Deployment", name)
		if err != nil {
			return err
		}
		found := deployment.Spec.Template.Spec.Containers
		i := slices.IndexFunc(found, func(c corev1.Container) bool { return c.Name == name })
		if len(found) != containers || i < 0 || found[i].Image != image {
			return fmt.Errorf("the containers are %v, want %d of which %s runs %s", found, containers, name, image)
		}
		return nil
	}
}
