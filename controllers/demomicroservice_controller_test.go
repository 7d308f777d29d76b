// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
)

func podinfoService() *devopsv1.DemoMicroService {
	return &devopsv1.DemoMicroService{
		ObjectMeta: metav1.ObjectMeta{Name: "podinfo"},
		Spec:       devopsv1.DemoMicroServiceSpec{Image: "stefanprodan/podinfo:0.0.1"},
	}
}

func TestC02_ADemoMicroServiceRunsOnePodOfExactlyItsImage(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	service := podinfoService()
	l.running(service)

	deployment := l.deployment("podinfo")
	if got := *deployment.Spec.Replicas; got != 1 {
		t.Errorf("%d replicas, want 1", got)
	}
	if got := deployment.Spec.Template.Spec.Containers[0]; got.Image != "stefanprodan/podinfo:0.0.1" || got.Name != "podinfo" {
		t.Errorf("container %s runs %s", got.Name, got.Image)
	}
	if !meta.IsStatusConditionTrue(service.Status.Conditions, appstatus.ConditionReady) || service.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("not Ready: %s %v", service.Status.Phase, service.Status.Conditions)
	}
}

func TestADemoMicroServiceFollowsItsImage(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	service := podinfoService()
	l.running(service)
	l.change(service, func() { service.Spec.Image = "stefanprodan/podinfo:6.7.1" })
	l.reconcile(service)
	if got := l.deployment("podinfo").Spec.Template.Spec.Containers[0].Image; got != "stefanprodan/podinfo:6.7.1" {
		t.Errorf("the pod runs %s", got)
	}
	if service.Status.Image != "stefanprodan/podinfo:0.0.1" {
		t.Errorf("status.image is %q before the rollout ends, want what runs", service.Status.Image)
	}
	l.rollOut("podinfo")
	l.reconcile(service)
	if service.Status.Image != "stefanprodan/podinfo:6.7.1" {
		t.Errorf("status.image is %q after the rollout", service.Status.Image)
	}
}
