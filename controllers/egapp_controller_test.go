// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
			ReplicaCount: new(int32(3)),
		},
	}
}

func TestC01_AnEGAppBecomesARunningDeploymentAndServiceThatItOwns(t *testing.T) {
	t.Parallel()
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
}

func TestC03_C04_TheContainerIsNamedAfterTheIdOrElseTheObject(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"": "orders", "app-00123": "app-00123", "Orders_API.v2": "orders-api-v2"} {
		t.Run(id, func(t *testing.T) {
			l := newLoop(t)
			app := ordersApp()
			app.Spec.AppID = id
			l.running(app)
			template := l.deployment("orders").Spec.Template
			if got := template.Spec.Containers[0].Name; got != want {
				t.Errorf("the container is named %q, want %q", got, want)
			}
			if got := template.Annotations["kubectl.kubernetes.io/default-container"]; got != want {
				t.Errorf("kubectl takes the container %q, want %q", got, want)
			}
		})
	}
}

func TestC04_TwoIdsOfTheSameContainerNameAreTwoApps(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	first, second := ordersApp(), ordersApp()
	first.Spec.AppID, second.Name, second.Spec.AppID = "Orders_API", "orders-2", "orders-api"
	l.running(first)
	l.running(second)
	for _, app := range []*v1alpha1.EGApp{first, second} {
		if !metav1.IsControlledBy(l.deployment(app.Name), app) || app.Status.Phase != appstatus.PhaseRunning {
			t.Errorf("%s is %s", app.Name, app.Status.Phase)
		}
	}
}

func TestC08_LabelsOfToolsReachNeitherChildrenNorPods(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	app.Labels = map[string]string{"app.kubernetes.io/instance": "argocd-app", "helm.sh/chart": "x", "cost-center": "42"}
	l.running(app)
	before := l.deployment("orders")
	if diff := cmp.Diff(map[string]string{"platform.evillgenius.com/egapp": "orders"}, before.Spec.Selector.MatchLabels); diff != "" {
		t.Errorf("the selector is not the one frozen key (-want +got):\n%s", diff)
	}
	for _, labels := range []map[string]string{before.Labels, before.Spec.Template.Labels, l.service("orders").Labels} {
		for _, key := range []string{"app.kubernetes.io/instance", "helm.sh/chart"} {
			if _, ok := labels[key]; ok {
				t.Errorf("%s is on a child: %v", key, labels)
			}
		}
	}

	l.change(app, func() {
		app.Labels = map[string]string{"app.kubernetes.io/instance": "other", "helm.sh/chart": "y", "cost-center": "43"}
	})
	l.reconcile(app)
	after := l.deployment("orders")
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
		t.Errorf("a change of the labels rolls pods:\n%s", diff)
	}
	if after.Labels["cost-center"] != "43" {
		t.Errorf("a label of the user's own does not reach the Deployment: %v", after.Labels)
	}
	l.rollOut("orders")
	l.reconcile(app)
	if app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("a change of labels makes the phase %s", app.Status.Phase)
	}
}

func TestC10_TheImageIsUsedToTheLetter(t *testing.T) {
	t.Parallel()
	digest := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	for _, image := range []string{"registry.example.com:5000/team/app" + digest, "host:5000/app:1.2" + digest} {
		t.Run(image, func(t *testing.T) {
			l := newLoop(t)
			app := ordersApp()
			app.Spec.Image = image
			l.running(app)
			if got := l.deployment("orders").Spec.Template.Spec.Containers[0].Image; got != image {
				t.Errorf("the container runs %q", got)
			}
			if app.Status.Image != image {
				t.Errorf("status.image is %q", app.Status.Image)
			}
		})
	}
}

func TestC15_AFlippingSpecificationNeverReplacesTheDeployment(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	app.Spec.Image = "registry.example.com/orders:a"
	l.running(app)
	before := l.deployment("orders")
	for i := range 100 {
		image := "registry.example.com/orders:" + string("ba"[i%2])
		l.change(app, func() { app.Spec.Image = image })
		// The operator sees some of the changes, and some not.
		if i%3 == 0 {
			if _, err := l.turn(app); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.reconcile(app)
	after := l.deployment("orders")
	if after.UID != before.UID {
		t.Error("the Deployment was replaced")
	}
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
		t.Errorf("it does not end where it began:\n%s", diff)
	}
}

func TestC21_NoReplicasMeansStopped(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	app.Spec.ReplicaCount = new(int32(0))
	l.running(app)
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if app.Status.Phase != appstatus.PhaseStopped || ready.Status != metav1.ConditionTrue || ready.Reason != appstatus.ReasonStopped {
		t.Errorf("phase is %s, Ready %s %s", app.Status.Phase, ready.Status, ready.Reason)
	}
	l.change(app, func() { app.Spec.ReplicaCount = new(int32(1)) })
	l.reconcile(app)
	l.rollOut("orders")
	l.reconcile(app)
	if app.Status.Phase != appstatus.PhaseRunning || app.Status.ReadyReplicas != 1 {
		t.Errorf("back at 1 the phase is %s with %d pods", app.Status.Phase, app.Status.ReadyReplicas)
	}
}

func TestInstanceTypeEnvironmentAndFrameworkChangeThePod(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	for name, change := range map[string]func(){
		"instanceType": func() { app.Spec.InstanceType = v1alpha1.InstanceTypeHighMem },
		"environment":  func() { app.Spec.Environment = v1alpha1.EnvironmentProd },
		"framework":    func() { app.Spec.Framework = v1alpha1.FrameworkJava },
	} {
		before := l.deployment("orders").Spec.Template
		l.change(app, change)
		l.reconcile(app)
		if cmp.Equal(before, l.deployment("orders").Spec.Template) {
			t.Errorf("%s does not change the pod", name)
		}
	}
}

func TestABadSpecificationStopsAndAGoodOneResumes(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*v1alpha1.EGApp){
		"an image with a scheme": func(a *v1alpha1.EGApp) { a.Spec.Image = "docker://nginx:1" },
		"an image in upper case": func(a *v1alpha1.EGApp) { a.Spec.Image = "MyOrg/App:1.0" },
		"an image without a tag": func(a *v1alpha1.EGApp) { a.Spec.Image = "nginx:" },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			app := ordersApp()
			l.running(app)
			want := l.endState(app)
			before := l.deployment("orders")

			l.change(app, func() { spoil(app); app.Spec.ReplicaCount = new(int32(9)) })
			result := l.reconcile(app)
			ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
			if ready.Reason != appstatus.ReasonInvalidSpec || !strings.Contains(ready.Message, "spec.image") {
				t.Errorf("Ready is %s: %s", ready.Reason, ready.Message)
			}
			if app.Status.Phase != appstatus.PhaseInvalid || !meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionStalled) {
				t.Errorf("phase is %s: %v", app.Status.Phase, app.Status.Conditions)
			}
			if !meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionAvailable) || app.Status.ReadyReplicas != 3 {
				t.Error("what runs is not told any more")
			}
			if result.RequeueAfter != 0 {
				t.Errorf("a terminal problem is tried again after %s", result.RequeueAfter)
			}
			if got := l.deployment("orders"); got.ResourceVersion != before.ResourceVersion {
				t.Error("a bad specification touches what runs")
			}

			good := ordersApp().Spec
			l.change(app, func() { app.Spec = good })
			l.reconcile(app)
			if diff := cmp.Diff(want, l.endState(app), ignoreGenerations); diff != "" {
				t.Errorf("good, bad, good does not end where good alone does:\n%s", diff)
			}
		})
	}
}

// ignoreGenerations leaves out of an end state how many changes led to it.
var ignoreGenerations = cmp.FilterValues(func(_, _ string) bool { return true }, cmp.Comparer(func(a, b string) bool {
	return generation.ReplaceAllString(a, "") == generation.ReplaceAllString(b, "")
}))

var generation = regexp.MustCompile(`observedGeneration: \d+`)
