// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

func TestN25DeploymentThatSomebodyPausedIsToldAndGoesOnWhenResumed(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("paused")
	app := newEGApp(namespace, "orders", 2)
	s.create(app)
	before := uids(s.runs(app, 2))
	s.ready(app)
	s.kubectl("rollout", "pause", "deployment/orders", "--namespace", namespace)

	const newImage = "registry.example.com/team/app:2"
	s.edit(app, func() { app.Spec.Image = newImage })
	ready := s.reports(shortWait, app, metav1.ConditionFalse, appstatus.ReasonDeploymentPaused)
	s.says(ready, "kubectl rollout resume deployment/orders -n "+namespace)
	deployment := s.deploymentOf(app)
	if !deployment.Spec.Paused || deployment.Spec.Template.Spec.Containers[0].Image != newImage {
		t.Errorf("the Deployment is paused: %t, its image is %s", deployment.Spec.Paused, deployment.Spec.Template.Spec.Containers[0].Image)
	}
	s.oldPodsServe(app, before)

	s.kubectl("rollout", "resume", "deployment/orders", "--namespace", namespace)
	s.reports(podWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
	s.runs(app, 2)
	if app.Status.Image != newImage {
		t.Errorf("status.image is %s, want %s", app.Status.Image, newImage)
	}
}

func TestN29AnExtendedResourceThatNoNodeHasIsTold(t *testing.T) {
	s := newSharedScene(t)
	app := newEGApp(s.namespace("gpu"), "orders", 1)
	app.Spec.Framework = v1alpha1.FrameworkPython
	app.Spec.Environment = v1alpha1.EnvironmentProd
	s.create(app)
	before := uids(s.runs(app, 1))
	s.ready(app)

	s.edit(app, func() {
		s.set(app, `resources: {limits: {nvidia.com/gpu: "1", ephemeral-storage: 2Gi}}`)
		app.Spec.PodTemplatePatch = s.patch(`{spec: {tolerations: [{key: nvidia.com/gpu, operator: Exists}]}}`)
	})
	ready := s.reports(podWait, app, metav1.ConditionFalse, appstatus.ReasonUnschedulable)
	s.says(ready, "Insufficient nvidia.com/gpu", "0/3 nodes are available", "Pod orders-")
	if !meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionAvailable) {
		t.Errorf("it is not Available: %v", app.Status.Conditions)
	}
	pods, err := s.pods(t.Context(), app)
	if err != nil {
		t.Fatal(err)
	}
	serving := pods[:0]
	for _, pod := range pods {
		if podIsReady(pod) {
			serving = append(serving, pod)
		}
	}
	if diff := cmp.Diff(before, uids(serving)); diff != "" {
		t.Errorf("another pod than before serves (-before +after):\n%s", diff)
	}

	s.edit(app, func() { app.Spec.Resources = nil })
	s.reports(podWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
}

func TestN41ADrainPassesAtEveryCountAndTheBudgetStays(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("drain")
	app := newEGApp(namespace, "orders", 1)
	app.Spec.Environment = v1alpha1.EnvironmentProd
	s.set(app, `autoscaling: {minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 70}`)
	s.create(app)
	s.runs(app, 1)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: childOf(app)}
	s.get(budget)
	for _, count := range []int{2, 1} {
		// As the autoscaler does, which has no metrics here.
		s.kubectl("scale", "deployment", "orders", "--namespace", namespace, fmt.Sprintf("--replicas=%d", count))
		s.evict(s.runs(app, count)[0])
		s.runs(app, count)
	}
	after := &policyv1.PodDisruptionBudget{ObjectMeta: childOf(app)}
	s.get(after)
	if after.UID != budget.UID || after.Generation != budget.Generation {
		t.Errorf("the budget was made anew or written: %s generation %d, it was %s generation %d", after.UID, after.Generation, budget.UID, budget.Generation)
	}
}

// evict drains a pod, and waits until it is gone. The budget's own count follows that of the pods after a moment.
func (s *scene) evict(pod corev1.Pod) {
	s.Helper()
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	s.eventually(shortWait, "pod "+pod.Name+" is evicted", func(ctx context.Context) error {
		return s.clientset.CoreV1().Pods(pod.Namespace).EvictV1(ctx, eviction)
	})
	s.isGone(shortWait, &pod)
}

// The pods ask for next to nothing, so that they fit beside those of other tests.
func TestC27ManyPodsAreCountedExactlyAndListedInBounds(t *testing.T) {
	s := newSharedScene(t)
	const count, bound = 120, 100
	app := newEGApp(s.namespace("many"), "orders", count)
	s.set(app, `resources: {requests: {cpu: 1m, memory: 1Mi}, limits: {memory: 1Mi}}`)
	s.create(app)
	s.reports(podWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
	status := app.Status
	if status.Replicas != count || status.ReadyReplicas != count || status.UpdatedReplicas != count || status.AvailableReplicas != count {
		t.Errorf("the counts are %d, %d ready, %d updated, %d available, want %d of each",
			status.Replicas, status.ReadyReplicas, status.UpdatedReplicas, status.AvailableReplicas, count)
	}
	listed := 0
	for _, names := range status.PodStatuses {
		listed += len(names)
	}
	if len(status.Pods) != bound || listed != bound {
		t.Errorf("%d pods are listed, and %d by state, want %d", len(status.Pods), listed, bound)
	}
}
