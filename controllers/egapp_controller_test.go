// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// ordersApp is an EGApp with all five fields.
func ordersApp() *v1alpha1.EGApp {
	return &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Name: "orders"},
		Spec: v1alpha1.EGAppSpec{
			AppID:        "app-00123",
			Framework:    v1alpha1.FrameworkGo,
			InstanceType: v1alpha1.InstanceTypeLowMem,
			Environment:  v1alpha1.EnvironmentDev,
			ReplicaCount: ptr.To(int32(3)),
		},
	}
}

func TestC01_AnEGAppBecomesARunningDeploymentAndServiceThatItOwns(t *testing.T) {
	l := newLoop(t)
	app := ordersApp()
	l.running(app)

	for _, child := range []metav1.Object{l.deployment("orders"), l.service("orders")} {
		if !metav1.IsControlledBy(child, app) {
			t.Errorf("%T is not controlled by the EGApp: %v", child, child.GetOwnerReferences())
		}
	}
	if app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("phase is %s, %v", app.Status.Phase, app.Status.Conditions)
	}
	if !meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionReady) {
		t.Errorf("not Ready: %v", app.Status.Conditions)
	}
	t.Log(l.requests.list())
}
