// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

func TestC21KubectlScaleReachesFivePodsThenNoneThenOne(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("scale")
	s.kubectl("apply", "-f", filepath.Join(s.samples(), "egplatform_v1alpha1_egapp.yaml"), "--namespace", namespace)
	app := sampleEGApp(namespace)
	s.runs(app, 3)
	s.ready(app)

	s.scaleTo(namespace, 5)
	pods := s.runs(app, 5)
	s.reports(shortWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
	// The selector of the scale subresource is what an autoscaler finds the pods by.
	scale := s.kubectl("get", "--raw", "/apis/egplatform.platform.evillgenius.com/v1alpha1/namespaces/"+namespace+"/egapps/egapp-sample/scale")
	if !strings.Contains(scale, `"replicas":5`) {
		t.Errorf("the scale subresource says %s", scale)
	}
	selected := strings.Fields(s.kubectl("get", "pods", "--namespace", namespace, "--output=name", "--selector", app.Status.Selector))
	if len(selected) != len(pods) {
		t.Errorf("the selector %q selects %v, want the 5 pods", app.Status.Selector, selected)
	}

	s.scaleTo(namespace, 0)
	s.runs(app, 0)
	s.reports(shortWait, app, metav1.ConditionTrue, appstatus.ReasonStopped)
	if app.Status.Phase != appstatus.PhaseStopped {
		t.Errorf("the phase without pods is %s, want %s", app.Status.Phase, appstatus.PhaseStopped)
	}
	stopped := s.serviceOf(app).UID

	s.scaleTo(namespace, 1)
	s.runs(app, 1)
	s.reports(shortWait, app, metav1.ConditionTrue, appstatus.ReasonReady)
	if app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("the phase with a pod again is %s, want %s", app.Status.Phase, appstatus.PhaseRunning)
	}
	if s.serviceOf(app).UID != stopped {
		t.Error("the Service was made anew; its address has changed")
	}
}

func (s *scene) scaleTo(namespace string, replicas int) {
	s.Helper()
	s.kubectl("scale", "egapp", "egapp-sample", "--namespace", namespace, fmt.Sprintf("--replicas=%d", replicas))
}

const restartedAt = "kubectl.kubernetes.io/restartedAt"

func TestC23RolloutRestartCompletesAndIsNotUndone(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("restart")
	app := newEGApp(namespace, "orders", 3)
	s.create(app)
	before := s.runs(app, 3)
	s.ready(app)
	generation := s.deploymentOf(app).Generation
	phases := s.recordPhases(app)

	s.kubectl("rollout", "restart", "deployment/orders", "--namespace", namespace)
	s.kubectl("rollout", "status", "deployment/orders", "--namespace", namespace, "--timeout="+podWait.String())
	s.eventually(podWait, "the restarted pods are all there is", func(ctx context.Context) error {
		pods, err := s.pods(ctx, app)
		for _, pod := range pods {
			if pod.Annotations[restartedAt] == "" {
				return fmt.Errorf("pod %s is from before", pod.Name)
			}
		}
		return err
	})
	after := s.runs(app, 3)
	s.ready(app)
	for _, pod := range before {
		for _, newer := range after {
			if newer.UID == pod.UID {
				t.Errorf("pod %s was not restarted", pod.Name)
			}
		}
	}
	deployment := s.deploymentOf(app)
	if deployment.Spec.Template.Annotations[restartedAt] == "" {
		t.Error("the restart was undone: its annotation is gone from the Deployment")
	}
	if deployment.Generation != generation+1 {
		t.Errorf("the Deployment is of generation %d, want %d: that of the restart", deployment.Generation, generation+1)
	}
	want := "Running Updating Running"
	if got := strings.Join(phases(), " "); got != want {
		t.Errorf("the phases were %q, want %q", got, want)
	}
}

// recordPhases watches an application and returns what returns the phases that it went through, when it has reached
// its present state.
func (s *scene) recordPhases(app *v1alpha1.EGApp) func() []string {
	s.Helper()
	watch, err := s.admin.Watch(s.Context(), &v1alpha1.EGAppList{}, client.InNamespace(app.GetNamespace()), client.MatchingFields{"metadata.name": app.GetName()})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(watch.Stop)
	return func() []string {
		s.Helper()
		s.get(app)
		var phases []string
		for event := range watch.ResultChan() {
			seen, ok := event.Object.(*v1alpha1.EGApp)
			if !ok {
				s.Fatalf("the watch brings %v", event)
			}
			if phase := string(seen.Status.Phase); len(phases) == 0 || phases[len(phases)-1] != phase {
				phases = append(phases, phase)
			}
			if seen.GetResourceVersion() == app.GetResourceVersion() {
				break
			}
		}
		return phases
	}
}
