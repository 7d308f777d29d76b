// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
)

func TestC16QuotaIsToldInItsWordsAndRaisedItPasses(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("quota")
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
	}
	s.create(quota)
	app := newEGApp(namespace, "orders", 3)
	s.create(app)
	ready := s.reports(podWait, app, metav1.ConditionFalse, appstatus.ReasonQuotaExceeded)
	if !strings.Contains(ready.Message, "exceeded quota: pods, requested: pods=1, used: pods=1, limited: pods=1") {
		t.Errorf("the message lacks the quota's words: %s", ready.Message)
	}
	if app.Status.Phase != appstatus.PhaseDegraded {
		t.Errorf("the phase is %s, want %s", app.Status.Phase, appstatus.PhaseDegraded)
	}
	generation := app.Generation

	s.get(quota)
	quota.Spec.Hard[corev1.ResourcePods] = resource.MustParse("10")
	if err := s.admin.Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	// The ReplicaSet controller tries again, at growing intervals.
	s.reports(longWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
	s.runs(app, 3)
	if app.Generation != generation {
		t.Error("the EGApp was edited")
	}
}

// The pods ask for what no node has, until one has it. That they ask comes from a LimitRange, so that it concerns
// nobody else.
func TestC18UnschedulableIsToldInTheSchedulersWordsAndPasses(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("unschedulable")
	const licence = "example.com/licence"
	one := corev1.ResourceList{licence: resource.MustParse("1")}
	s.create(&corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "licences"},
		Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Default: one, DefaultRequest: one}}},
	})
	app, service := newEGApp(namespace, "orders", 2), newDemoMicroService(namespace, "podinfo")
	s.create(app, service)
	for _, a := range []application{app, service} {
		ready := s.reports(podWait, a, metav1.ConditionFalse, appstatus.ReasonUnschedulable)
		for _, words := range []string{"Insufficient " + licence, "0/3 nodes are available", "Pod " + a.GetName() + "-"} {
			if !strings.Contains(ready.Message, words) {
				t.Errorf("the message lacks %q: %s", words, ready.Message)
			}
		}
		if phase := a.AppStatus().Phase; phase != appstatus.PhaseDegraded {
			t.Errorf("the phase is %s, want %s", phase, appstatus.PhaseDegraded)
		}
	}

	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0"}}
	patch := fmt.Sprintf(`{"status":{"capacity":{%q:"5"},"allocatable":{%q:"5"}}}`, licence, licence)
	if err := s.admin.Status().Patch(t.Context(), node, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	s.runs(app, 2)
	s.runs(service, 1)
	s.ready(app, service)
}
