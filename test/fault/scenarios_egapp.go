// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// fullEGApp returns an EGApp that uses every feature at once.
func fullEGApp() client.Object {
	app := newEGApp()
	app.Spec.Environment = v1alpha1.EnvironmentStage
	app.Spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: settings}}}}
	app.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: new(int32(1)), MaxReplicas: 3, TargetCPUUtilizationPercentage: new(int32(70))}
	app.Spec.Expose = &v1alpha1.Expose{Type: v1alpha1.ExposeTypeIngress, Hosts: []string{"orders.example.com"}}
	app.Spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationNamespace}
	app.Spec.Monitoring = &v1alpha1.Monitoring{Port: "http"}
	return app
}

// everyFeature switches on what fullEGApp has beyond a small one, and noFeature takes it away.
const (
	everyFeature = `{"spec":{"environment":"stage","envFrom":[{"configMapRef":{"name":"settings"}}],
		"autoscaling":{"minReplicas":1,"maxReplicas":3,"targetCPUUtilizationPercentage":70},
		"expose":{"type":"Ingress","hosts":["orders.example.com"]},
		"networkPolicy":{"isolation":"Namespace"},"monitoring":{"port":"http"}}}`
	noFeature = `{"spec":{"environment":"dev","envFrom":null,"autoscaling":null,"expose":null,"networkPolicy":null,"monitoring":null}}`
)

// features are the kinds of children that only a feature makes.
var features = []string{"HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", "Ingress", "ServiceMonitor"}

func small() client.Object { return newEGApp() }

// lifeOfEGApp are the scenarios of an EGApp from its creation to its end.
func lifeOfEGApp() []Scenario {
	created := create(EGApp, small, runs(EGApp, orders, 1))
	configured := create("ConfigMap", newSettings, all())
	withImage := func(image string) check { return all(runs(EGApp, orders, 1), container(orders, image, 1)) }
	update := func(patch string, holds check) Step { return edit(EGApp, orders, patch, holds) }
	return []Scenario{
		{
			Kind: EGApp, Name: "create", Before: []Step{configured},
			Steps: []Step{create(EGApp, fullEGApp, all(runs(EGApp, orders, 1), present(orders, "Deployment", "Service"), present(orders, features...)))},
		},
		{
			Kind: EGApp, Name: "update", Before: []Step{created},
			Steps: []Step{
				update(`{"spec":{"image":"`+image2+`"}}`, withImage(image2)),
				update(`{"spec":{"ports":[{"name":"web","containerPort":9090,"servicePort":8080}],"env":[{"name":"LEVEL","value":"debug"}]}}`, withImage(image2)),
				update(`{"spec":{"resources":{"limits":{"memory":"512Mi"}},"instanceType":"balanced"}}`, withImage(image2)),
			},
		},
		{
			Kind: EGApp, Name: "features", Before: []Step{configured, created},
			Steps: []Step{
				update(everyFeature, all(runs(EGApp, orders, 1), present(orders, features...))),
				update(noFeature, all(runs(EGApp, orders, 1), absent(orders, features...))),
			},
		},
		{
			Kind: EGApp, Name: "scale", Before: []Step{created},
			Steps: []Step{
				update(`{"spec":{"replicaCount":3}}`, runs(EGApp, orders, 3)),
				update(`{"spec":{"replicaCount":0}}`, runs(EGApp, orders, 0)),
				update(`{"spec":{"replicaCount":2}}`, runs(EGApp, orders, 2)),
			},
		},
		{
			Kind: EGApp, Name: "delete", Collects: true, Before: []Step{configured, create(EGApp, fullEGApp, all(runs(EGApp, orders, 1), present(orders, features...)))},
			Steps: []Step{remove(EGApp, orders, gone(EGApp))},
		},
		{
			Kind: EGApp, Name: "recreate", Collects: true, Before: []Step{egappSubject.created()},
			Steps: []Step{together("delete and create", egappSubject.runsAll(image2, 1),
				remove(EGApp, orders, nil),
				create(EGApp, func() client.Object {
					app, _ := egappSubject.newApp().(*v1alpha1.EGApp)
					app.Spec.Image = image2
					return app
				}, nil),
			)},
		},
	}
}

// lifeOfDemoMicroService are the scenarios of a DemoMicroService from its creation to its end.
func lifeOfDemoMicroService() []Scenario {
	s := demoMicroServiceSubject
	return []Scenario{
		{Kind: s.kind, Name: "create", Steps: []Step{s.created()}},
		{
			Kind: s.kind, Name: "update", Before: []Step{s.created()},
			Steps: []Step{
				edit(s.kind, orders, `{"spec":{"image":"`+image2+`"}}`, s.runsAll(image2, 1)),
				edit(s.kind, orders, `{"spec":{"image":"`+image3+`"},"metadata":{"labels":{"team":"a"}}}`, s.runsAll(image3, 1)),
			},
		},
		{Kind: s.kind, Name: "delete", Collects: true, Before: []Step{s.created()}, Steps: []Step{remove(s.kind, orders, gone(s.kind))}},
		{
			Kind: s.kind, Name: "recreate", Collects: true,
			// A status of the former one would tell a generation that the new one does not have.
			Before: []Step{s.created(), edit(s.kind, orders, `{"spec":{"image":"`+image3+`"}}`, s.runsAll(image3, 1))},
			Steps: []Step{together("delete and create", s.runsAll(image2, 1),
				remove(s.kind, orders, nil),
				create(s.kind, func() client.Object {
					app := newDemoMicroService()
					app.Spec.Image = image2
					return app
				}, nil),
			)},
		},
	}
}

// troubleOfEGApp are the scenarios in which an EGApp cannot be carried out for a while.
func troubleOfEGApp() []Scenario {
	newOf := func(name string) func() client.Object {
		return func() client.Object {
			app := newEGApp()
			app.Name, app.Spec.AppID = name, "shop"
			return app
		}
	}
	return []Scenario{
		{
			Kind: EGApp, Name: "duplicate-app-id", Collects: true, Before: []Step{create(EGApp, newOf(orders), runs(EGApp, orders, 1))},
			Steps: []Step{
				aSecondLater(EGApp, orders, create(EGApp, newOf(billing), reports(EGApp, billing, appstatus.ReasonDuplicateAppID))),
				remove(EGApp, orders, all(runs(EGApp, billing, 1), absent(orders, childKinds...))),
			},
		},
	}
}
