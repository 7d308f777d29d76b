// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"platformapp/api/appstatus"
)

// View is what there is in a namespace at a time. Its objects must not be changed.
type View struct {
	objects map[objectKey]*unstructured.Unstructured
	// replicaSets are the names of ReplicaSets by the ones that they have, see [nameOf].
	replicaSets map[string]string
}

// Get returns an object, or nil.
func (v View) Get(kind, name string) *unstructured.Unstructured {
	return v.objects[objectKey{kind, name}]
}

// Of returns the objects of a kind, by name.
func (v View) Of(kind string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for key, object := range v.objects {
		if key.kind == kind {
			found = append(found, object)
		}
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return found
}

// read converts an object of the view.
func read[T any](v View, kind, name string) (*T, error) {
	object := v.Get(kind, name)
	if object == nil {
		return nil, fmt.Errorf("there is no %s %s", kind, name)
	}
	typed := new(T)
	return typed, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed)
}

// statusOf returns the status of an application.
func statusOf(app *unstructured.Unstructured) (appstatus.Status, error) {
	var status appstatus.Status
	content, _, err := unstructured.NestedMap(app.Object, "status")
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, &status)
	}
	return status, err
}

// Ready returns the Ready condition of an application; it fails unless that is of the present generation.
func (v View) Ready(kind, name string) (*metav1.Condition, error) {
	app := v.Get(kind, name)
	if app == nil {
		return nil, fmt.Errorf("there is no %s %s", kind, name)
	}
	status, err := statusOf(app)
	if err != nil {
		return nil, err
	}
	ready := meta.FindStatusCondition(status.Conditions, appstatus.ConditionReady)
	if ready == nil || ready.ObservedGeneration != app.GetGeneration() || status.ObservedGeneration != app.GetGeneration() {
		return nil, fmt.Errorf("%s %s reports nothing of generation %d", kind, name, app.GetGeneration())
	}
	return ready, nil
}

// runningPods returns how many pods of a Deployment run and are ready.
func (v View) runningPods(deployment string) (int, error) {
	running := 0
	for _, object := range v.Of("Pod") {
		if !strings.HasPrefix(object.GetName(), deployment+"-") {
			continue
		}
		pod, err := read[corev1.Pod](v, "Pod", object.GetName())
		if err != nil {
			return 0, err
		}
		isReady := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if pod.Status.Phase == corev1.PodRunning && isReady && pod.DeletionTimestamp == nil {
			running++
		}
	}
	return running, nil
}

// rolledOut fails unless the control plane has nothing left to do with any Deployment.
func (v View) rolledOut() error {
	for _, object := range v.Of("Deployment") {
		d, err := read[appsv1.Deployment](v, "Deployment", object.GetName())
		if err != nil {
			return err
		}
		isDone := slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentProgressing && c.Reason == "NewReplicaSetAvailable"
		})
		s, want := d.Status, *d.Spec.Replicas
		isEnding := s.TerminatingReplicas != nil && *s.TerminatingReplicas > 0 // Pods of the past end late on a busy machine.
		if isEnding || s.ObservedGeneration != d.Generation || !isDone || s.Replicas != want || s.UpdatedReplicas != want {
			return fmt.Errorf("the rollout of %s is under way: %+v", d.Name, s)
		}
	}
	return nil
}
