// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestC25DeletedServiceIsBack(t *testing.T) {
	s := newSharedScene(t)
	app := newEGApp(s.namespace("service"), "orders", 2)
	s.create(app)
	pods := s.runs(app, 2)
	deleted := s.serviceOf(app)
	s.delete(deleted)
	s.isBack(&corev1.Service{ObjectMeta: childOf(app)}, deleted.UID, app)
	s.serves(s.serviceOf(app), pods)
	s.ready(app)
}

func TestC25DeletedDeploymentIsBackWithPods(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("deployment")
	apps := []application{newEGApp(namespace, "orders", 2), newDemoMicroService(namespace, "podinfo")}
	for _, app := range apps {
		s.create(app)
	}
	s.ready(apps...)
	deleted := map[application]*appsv1.Deployment{}
	for _, app := range apps {
		deleted[app] = s.deploymentOf(app)
		s.delete(deleted[app])
	}
	for _, app := range apps {
		s.isBack(&appsv1.Deployment{ObjectMeta: childOf(app)}, deleted[app].UID, app)
		s.runs(app, int(*deleted[app].Spec.Replicas))
	}
	s.ready(apps...)
}

func TestC25ChangedImageAndReplicasAreRepairedDownToThePods(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("drift")
	app := newEGApp(namespace, "orders", 2)
	s.create(app)
	s.runs(app, 2)

	s.kubectl("set", "image", "deployment/orders", "*=registry.example.com/other:2", "--namespace", namespace)
	s.eventually(podWait, "all pods run the EGApp's image again", func(ctx context.Context) error {
		pods, err := s.pods(ctx, app)
		for _, pod := range pods {
			if got := pod.Spec.Containers[0].Image; got != image {
				return fmt.Errorf("pod %s runs %s", pod.Name, got)
			}
		}
		if got := s.deploymentOf(app).Spec.Template.Spec.Containers[0].Image; got != image {
			return fmt.Errorf("the Deployment runs %s", got)
		}
		return err
	})
	s.runs(app, 2)
	s.ready(app)
	if app.Status.Image != image {
		t.Errorf("status.image is %s, want %s", app.Status.Image, image)
	}

	s.kubectl("scale", "deployment/orders", "--replicas=4", "--namespace", namespace)
	s.eventually(shortWait, "the Deployment has the EGApp's number of pods again", func(context.Context) error {
		if got := *s.deploymentOf(app).Spec.Replicas; got != 2 {
			return fmt.Errorf("it asks for %d", got)
		}
		return nil
	})
	s.runs(app, 2)
	s.ready(app)
}

// With the reference gone, garbage collection would leave the child behind.
func TestC25TakenAwayOwnerReferenceIsPutBack(t *testing.T) {
	s := newSharedScene(t)
	app := newEGApp(s.namespace("reference"), "orders", 1)
	s.create(app)
	s.ready(app)
	for _, child := range []client.Object{s.deploymentOf(app), s.serviceOf(app)} {
		uid := child.GetUID()
		if err := s.admin.Patch(t.Context(), child, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`))); err != nil {
			t.Fatal(err)
		}
		s.eventually(shortWait, fmt.Sprintf("%T has its owner back", child), func(ctx context.Context) error {
			if err := s.admin.Get(ctx, client.ObjectKeyFromObject(child), child); err != nil {
				return err
			}
			if child.GetUID() != uid {
				return errors.New("it was made anew")
			}
			return controlledBy(child, app)
		})
	}
	s.ready(app)
}

// isBack waits until a child is there that is not the deleted one, is not being deleted and is the application's.
func (s *scene) isBack(child client.Object, deleted types.UID, app application) {
	s.Helper()
	s.eventually(shortWait, fmt.Sprintf("%T %s is back", child, child.GetName()), func(ctx context.Context) error {
		if err := s.admin.Get(ctx, client.ObjectKeyFromObject(child), child); err != nil {
			return err
		}
		if child.GetUID() == deleted || child.GetDeletionTimestamp() != nil {
			return errors.New("it is still the deleted one")
		}
		return controlledBy(child, app)
	})
}

func controlledBy(child client.Object, app application) error {
	controller := metav1.GetControllerOf(child)
	if controller == nil || controller.UID != app.GetUID() {
		return fmt.Errorf("%T %s is controlled by %+v, want UID %s", child, child.GetName(), ptr.Deref(controller, metav1.OwnerReference{}), app.GetUID())
	}
	return nil
}
