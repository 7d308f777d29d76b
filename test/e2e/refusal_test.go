// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

func (s *scene) quota(namespace string, hard corev1.ResourceList) *corev1.ResourceQuota {
	s.Helper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "quota"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	s.create(quota)
	return quota
}

func (s *scene) limitRange(namespace string, item corev1.LimitRangeItem) {
	s.Helper()
	item.Type = corev1.LimitTypeContainer
	s.create(&corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limits"},
		Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}},
	})
}

func TestN18QuotaThatDemandsALimitIsToldWithWhatToSet(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("limits-cpu")
	s.quota(namespace, corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse("2")})
	app := newEGApp(namespace, "orders", 1)
	app.Spec.PodTemplatePatch = s.patch(`{spec: {containers: [{name: proxy, image: "registry.example.com/proxy:1"}]}}`)
	s.create(app)
	ready := s.reports(podWait, app, metav1.ConditionFalse, appstatus.ReasonQuotaExceeded)
	s.says(ready, "must specify limits.cpu for: ", "set spec.resources.limits.cpu", "set resources.limits.cpu of the container proxy in spec.podTemplatePatch")

	s.edit(app, func() {
		s.set(app, `resources: {limits: {cpu: 500m}}`)
		app.Spec.PodTemplatePatch = s.patch(`{spec: {containers: [{name: proxy, image: "registry.example.com/proxy:1", resources: {limits: {cpu: 100m}}}]}}`)
	})
	s.reports(podWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
}

func TestN18LimitRangeBelowTheInstanceTypeIsToldWithWhatToSet(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("limit-range")
	s.limitRange(namespace, corev1.LimitRangeItem{Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}})
	app := newEGApp(namespace, "orders", 1)
	app.Spec.InstanceType = v1alpha1.InstanceTypeHighMem
	s.create(app)
	ready := s.reports(podWait, app, metav1.ConditionFalse, appstatus.ReasonPodRefused)
	s.says(ready, "maximum memory usage per Container is 1Gi", "spec.instanceType", "spec.resources")

	s.edit(app, func() { s.set(app, `resources: {limits: {memory: 1Gi}}`) })
	s.reports(podWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
}

func TestN18DefaultsOfALimitRangeAreLeftAlone(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("limit-default")
	s.limitRange(namespace, corev1.LimitRangeItem{Default: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}})
	app := newEGApp(namespace, "orders", 2)
	s.create(app)
	pods := s.runs(app, 2)
	s.ready(app)
	if limit := pods[0].Spec.Containers[0].Resources.Limits.Cpu().String(); limit != "500m" {
		t.Fatalf("the pods have the limit %s of cpu: the LimitRange does not do what this test needs", limit)
	}
	if n := s.deploymentOf(app).Generation; n != 1 {
		t.Errorf("the Deployment has the generation %d: it was written again", n)
	}
}

func TestN19OldPodsServeWhileAQuotaRefusesTheNew(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("quota-update")
	quota := s.quota(namespace, corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")})
	app := newEGApp(namespace, "orders", 2)
	app.Spec.Environment = v1alpha1.EnvironmentProd
	s.create(app)
	before := uids(s.runs(app, 2))
	s.ready(app)

	const newImage = "registry.example.com/team/app:2"
	s.edit(app, func() { app.Spec.Image = newImage })
	ready := s.reports(podWait, app, metav1.ConditionFalse, appstatus.ReasonQuotaExceeded)
	s.says(ready, "exceeded quota: quota, requested: pods=1, used: pods=2, limited: pods=2")
	s.oldPodsServe(app, before)

	// Back to the old image there is nothing to do.
	s.edit(app, func() { app.Spec.Image = image })
	s.reports(shortWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
	if diff := cmp.Diff(before, uids(s.runs(app, 2))); diff != "" {
		t.Errorf("the pods have changed on the way back (-before +after):\n%s", diff)
	}

	s.edit(app, func() { app.Spec.Image = newImage })
	s.reports(podWait, app, metav1.ConditionFalse, appstatus.ReasonQuotaExceeded)
	generation := app.Generation
	s.edit(quota, func() { quota.Spec.Hard[corev1.ResourcePods] = resource.MustParse("4") })
	s.reports(longWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
	s.runs(app, 2)
	if app.Generation != generation {
		t.Error("the EGApp was edited")
	}
	if app.Status.Image != newImage {
		t.Errorf("status.image is %s, want %s", app.Status.Image, newImage)
	}
}

func TestN19OldPodsServeWhileAdmissionRefusesTheNew(t *testing.T) {
	t.Parallel()
	for field, words := range map[string]string{
		"priorityClassName": "no PriorityClass with name nope was found",
		"runtimeClassName":  `RuntimeClass "nope" not found`,
	} {
		t.Run(field, func(t *testing.T) {
			s := newSharedScene(t)
			app := newEGApp(s.namespace("no-class"), "orders", 2)
			app.Spec.Environment = v1alpha1.EnvironmentProd
			s.create(app)
			before := uids(s.runs(app, 2))
			s.edit(app, func() { app.Spec.PodTemplatePatch = s.patch(`{spec: {` + field + `: nope}}`) })
			ready := s.reports(podWait, app, metav1.ConditionFalse, appstatus.ReasonPodRefused)
			s.says(ready, words)
			s.oldPodsServe(app, before)

			s.edit(app, func() { app.Spec.PodTemplatePatch = nil })
			s.reports(shortWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
			if diff := cmp.Diff(before, uids(s.runs(app, 2))); diff != "" {
				t.Errorf("the pods have changed on the way back (-before +after):\n%s", diff)
			}
		})
	}
}

// oldPodsServe fails unless these pods are all that an application has, and its status says that they serve.
func (s *scene) oldPodsServe(app *v1alpha1.EGApp, before []string) {
	s.Helper()
	pods, err := s.pods(s.Context(), app)
	if err != nil {
		s.Fatal(err)
	}
	if diff := cmp.Diff(before, uids(pods)); diff != "" {
		s.Errorf("the old pods are not what is there (-before +after):\n%s", diff)
	}
	if !meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionAvailable) {
		s.Errorf("it is not Available: %v", app.Status.Conditions)
	}
	if app.Status.Image != image {
		s.Errorf("status.image is %s, want %s, which runs", app.Status.Image, image)
	}
}
