// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/workload"
)

// An application is deleted and made anew under its name, faster than its children are collected. The last one has its own
// children, all of them, and nothing is left of those before.
func TestDeletedAndRecreatedFast(t *testing.T) {
	carryOut(t, course{"deleted and recreated", 2, func(s *scene) {
		namespace := s.namespace("recreated")
		a := s.account("operator", namespace)
		s.start(s.options(a, namespace))
		random := s.random()
		var app application
		for range s.size(20, 100) {
			app = withPod(s.kind.make(namespace, "orders"))
			s.createAgain(app)
			// Now and then children and pods have the time to come.
			time.Sleep(time.Duration(random.Int64N(int64(100 * time.Millisecond))))
			if err := s.admin.Delete(s.Context(), app, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
				s.Fatal(err)
			}
		}
		app = withPod(s.kind.make(namespace, "orders"))
		s.createAgain(app)
		s.carriedOut(app)
		s.eventually("what was there before is collected", func(context.Context) error { return s.hasOnlyOwn(app) })
		s.atRest(namespace)
		if err := s.hasOnlyOwn(app); err != nil {
			s.Error(err)
		}
		if got, want := len(s.likeness(app)), len(s.kind.children); got != want {
			s.Errorf("the application has %d children, want %d: %v", got, want, s.likeness(app))
		}
	}})
}

// createAgain creates an object as soon as the one of that name is gone.
func (s *scene) createAgain(object client.Object) {
	s.Helper()
	s.eventually("the name is free", func(ctx context.Context) error {
		err := s.admin.Create(ctx, object)
		if err != nil && !apierrors.IsAlreadyExists(err) {
			s.Fatal(err)
		}
		return err
	})
}

// hasOnlyOwn fails when anything in the namespace is not the application's: children, ReplicaSets or pods.
func (s *scene) hasOnlyOwn(app application) error {
	namespace := app.GetNamespace()
	var errs []error
	for key, child := range s.children(namespace) {
		if !metav1.IsControlledBy(&child, app) || child.GetLabels()[workload.LabelOwnerUID] != string(app.GetUID()) {
			errs = append(errs, fmt.Errorf("%s is not the application's: %v", key, child.GetOwnerReferences()))
		}
	}
	deployment := &appsv1.Deployment{}
	if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(app), deployment); err != nil {
		return errors.Join(append(errs, err)...)
	}
	// The Deployment may have an empty ReplicaSet too, of the same pods: its controller makes another one when the name is still
	// taken by one of a predecessor, by a status that may be old.
	inUse := map[types.UID]bool{}
	for _, set := range s.list(namespace, &appsv1.ReplicaSet{}) {
		if !metav1.IsControlledBy(&set, deployment) {
			errs = append(errs, fmt.Errorf("ReplicaSet %s is not the Deployment's: %v", set.GetName(), set.GetOwnerReferences()))
		}
		if diff := cmp.Diff(deployment.Spec.Template, s.templateOf(set)); diff != "" {
			errs = append(errs, fmt.Errorf("the pods of ReplicaSet %s are not the Deployment's (-Deployment +ReplicaSet):\n%s", set.GetName(), diff))
		}
		if replicas, _, _ := unstructured.NestedInt64(set.Object, "spec", "replicas"); replicas > 0 {
			inUse[set.GetUID()] = true
		}
	}
	pods := s.list(namespace, &corev1.Pod{})
	for _, pod := range pods {
		if owner := metav1.GetControllerOf(&pod); owner == nil || !inUse[owner.UID] {
			errs = append(errs, fmt.Errorf("pod %s is of no ReplicaSet in use: %v", pod.GetName(), owner))
		}
	}
	if want := min(1, int(*deployment.Spec.Replicas)); len(inUse) != want || len(pods) > 1 {
		errs = append(errs, fmt.Errorf("there are %d ReplicaSets in use and %d pods, want %d and its pod at most", len(inUse), len(pods), want))
	}
	return errors.Join(errs...)
}

// templateOf returns the pod template of a ReplicaSet without the label by which its Deployment's controller tells it apart.
func (s *scene) templateOf(object unstructured.Unstructured) corev1.PodTemplateSpec {
	s.Helper()
	set := &appsv1.ReplicaSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, set); err != nil {
		s.Fatal(err)
	}
	delete(set.Spec.Template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return set.Spec.Template
}
