// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/egplatform/v1alpha1"
)

func TestC26RecreatedUnderTheSameNameTenTimesHasItsOwnChildren(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("recreated")
	for name, create := range map[string]func() application{
		"EGApp":            func() application { return newEGApp(namespace, "orders", 2) },
		"DemoMicroService": func() application { return newDemoMicroService(namespace, "podinfo") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s.in(t)
			app := create()
			s.create(app)
			s.ready(app)
			for round := range 10 {
				s.delete(app)
				app = create()
				s.create(app)
				// The rounds meet the loop and garbage collection at every stage of their work.
				if round%3 == 2 {
					s.hasOwnChildren(app)
				}
			}
			s.hasOwnChildren(app)
			s.ready(app)
			s.runs(app, int(app.AppStatus().Replicas))
			s.hasOwnChildren(app)
		})
	}
}

// hasOwnChildren waits until the children are controlled by this application and by no predecessor of it.
func (s *scene) hasOwnChildren(app application) {
	s.Helper()
	children := []client.Object{&appsv1.Deployment{ObjectMeta: childOf(app)}}
	if _, ok := app.(*v1alpha1.EGApp); ok {
		children = append(children, &corev1.Service{ObjectMeta: childOf(app)})
	}
	for _, child := range children {
		s.isBack(child, "", app)
	}
}

func TestC26NamespaceWithApplicationsIsGoneWithinAMinute(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("deleted")
	var apps []application
	for i := range 5 {
		apps = append(apps, newEGApp(namespace, fmt.Sprintf("orders-%d", i), 2), newDemoMicroService(namespace, fmt.Sprintf("podinfo-%d", i)))
	}
	for _, app := range apps {
		s.create(app)
	}
	s.ready(apps...)
	start := time.Now()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	s.delete(object)
	s.isGone(time.Minute, object)
	t.Logf("gone after %s", time.Since(start).Round(100*time.Millisecond))
}
