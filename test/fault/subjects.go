// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

// The names of the application that the scenarios are about, of another one, and of the ConfigMap that it uses, and the
// images that run.
const (
	orders   = "orders"
	billing  = "billing"
	settings = "settings"

	image1 = "registry.example.com/team/orders:1"
	image2 = "registry.example.com/team/orders:2"
	image3 = "registry.example.com/team/orders:3"
	// badImage is no reference to an image: its repository has capital letters.
	badImage = "registry.example.com/Team/Orders:1"
)

// subject is an application for the scenarios that both kinds have.
type subject struct {
	kind string
	// newApp returns it as it is created.
	newApp func() client.Object
	// children are the kinds of its children.
	children []string
}

var egappSubject = subject{
	kind: EGApp,
	newApp: func() client.Object {
		app := newEGApp()
		app.Spec.Environment = v1alpha1.EnvironmentStage
		app.Spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationNamespace}
		app.Spec.Expose = &v1alpha1.Expose{Type: v1alpha1.ExposeTypeIngress, Hosts: []string{"orders.example.com"}}
		return app
	},
	children: []string{"Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy", "Ingress"},
}

var demoMicroServiceSubject = subject{
	kind:     DemoMicroService,
	newApp:   func() client.Object { return newDemoMicroService() },
	children: []string{"Deployment"},
}

// newEGApp returns a small EGApp.
func newEGApp() *v1alpha1.EGApp {
	return &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Name: orders},
		Spec: v1alpha1.EGAppSpec{
			Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, ReplicaCount: new(int32(1)), Image: image1,
		},
	}
}

func newDemoMicroService() *devopsv1.DemoMicroService {
	return &devopsv1.DemoMicroService{ObjectMeta: metav1.ObjectMeta{Name: orders}, Spec: devopsv1.DemoMicroServiceSpec{Image: image1}}
}

// newSettings returns a ConfigMap of a user.
func newSettings() client.Object {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: settings}, Data: map[string]string{"COLOUR": "red", "config.yaml": "size: 1"},
	}
}

// created is the step that creates the subject.
func (s subject) created() Step {
	return create(s.kind, s.newApp, all(runs(s.kind, orders, 1), s.complete()))
}

// complete holds when the subject has all its children.
func (s subject) complete() check { return present(orders, s.children...) }

// runsAll holds when the subject is ready, with all its children and so many pods of an image.
func (s subject) runsAll(image string, pods int) check {
	return all(runs(s.kind, orders, pods), s.complete(), container(orders, image, 1))
}
