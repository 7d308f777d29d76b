// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// application is an object of a kind that the operator serves.
type application interface {
	client.Object
	AppStatus() *appstatus.Status
	AppDetails() *appstatus.Details
}

// subject is a kind of application as it is measured.
type subject struct {
	kind string
	// controller is the operator's name for the loop of the kind, in its metrics.
	controller string
	// children is how many objects run one.
	children int
	// list returns an empty list of the kind.
	list func() client.ObjectList
	// make returns the application of that name, to be created.
	make func(namespace, name string) application
	// workload returns what a stored one asks for.
	workload func(application) (workload.Workload, error)
	// setImage asks a stored one for another image.
	setImage func(app application, image string)
}

// subjects are the kinds, each as the plainest that a person would write.
var subjects = []subject{
	{
		kind: "EGApp", controller: "egapp", children: 2,
		list: func() client.ObjectList { return &v1alpha1.EGAppList{} },
		make: func(namespace, name string) application {
			return &v1alpha1.EGApp{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
				Spec: v1alpha1.EGAppSpec{
					AppID: name, Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev,
					InstanceType: v1alpha1.InstanceTypeLowMem, ReplicaCount: new(int32(1)), Image: imageOf(1),
				},
			}
		},
		workload: func(app application) (workload.Workload, error) {
			return translate.EGApp(app.(*v1alpha1.EGApp), translate.Options{})
		},
		setImage: func(app application, image string) { app.(*v1alpha1.EGApp).Spec.Image = image },
	},
	{
		kind: "DemoMicroService", controller: "demomicroservice", children: 1,
		list: func() client.ObjectList { return &devopsv1.DemoMicroServiceList{} },
		make: func(namespace, name string) application {
			return &devopsv1.DemoMicroService{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
				Spec:       devopsv1.DemoMicroServiceSpec{Image: imageOf(1)},
			}
		},
		workload: func(app application) (workload.Workload, error) {
			return translate.DemoMicroService(app.(*devopsv1.DemoMicroService))
		},
		setImage: func(app application, image string) { app.(*devopsv1.DemoMicroService).Spec.Image = image },
	},
}

func nameOf(i int) string { return fmt.Sprintf("app-%05d", i) }

func imageOf(version int) string { return fmt.Sprintf("registry.example.com/app:%d", version) }

// isReady tells whether an application reports that its present specification serves.
func isReady(app application) bool {
	for _, c := range app.AppStatus().Conditions {
		if c.Type == appstatus.ConditionReady {
			return c.Status == metav1.ConditionTrue && c.ObservedGeneration == app.GetGeneration()
		}
	}
	return false
}
