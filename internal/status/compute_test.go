// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

func TestStatusOfEachSituation(t *testing.T) {
	names := map[string]bool{}
	for _, test := range rows() {
		if names[test.name] {
			t.Errorf("two rows are named %q", test.name)
		}
		names[test.name] = true
		t.Run(test.name, func(t *testing.T) {
			got := test.scene.result()
			for _, violation := range violations(test.scene, got.Status) {
				t.Error(violation)
			}
			expect(t, got, test.want)
		})
	}
}

// A reason that nothing produces misleads those who look for it.
func TestEveryReasonIsProducedBySomeSituation(t *testing.T) {
	produced := map[string]bool{}
	for _, test := range rows() {
		for _, c := range test.scene.compute().Conditions {
			produced[c.Reason] = true
		}
	}
	// Only events carry this one.
	produced[appstatus.ReasonDriftRepaired] = true
	declared := reasons(t)
	if len(declared) == 0 {
		t.Fatal("no reasons in package appstatus")
	}
	for _, reason := range declared {
		if !produced[reason] {
			t.Errorf("reason %s is produced by no row", reason)
		}
		delete(produced, reason)
	}
	for reason := range produced {
		t.Errorf("reason %s is not declared in package appstatus", reason)
	}
}

// reasons returns the values of the constants Reason... of package appstatus.
func reasons(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/appstatus/reasons.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			literal, isLiteral := spec.Values[i].(*ast.BasicLit)
			if !strings.HasPrefix(name.Name, "Reason") || !isLiteral {
				continue
			}
			reason, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, reason)
		}
		return true
	})
	return found
}

// Of two causes the one is named that a person must act on first.
func TestFirstCauseIsNamed(t *testing.T) {
	podWith := func(name string, change func(*corev1.Pod)) func(*scene) {
		return func(s *scene) {
			s.pods = append(s.pods, pod(name, newRevision, change))
			s.counts(4, 1, 3, 3)
		}
	}
	fails := func(reason workload.FailureReason) func(*scene) {
		return func(s *scene) { s.applied.Failure = &workload.Failure{Reason: reason, Kind: "Service", Message: "m"} }
	}
	// The names of the pods are in the opposite order: not the first pod counts, but the first cause.
	ranked := []struct {
		reason string
		add    func(*scene)
	}{
		{appstatus.ReasonInvalidSpec, func(s *scene) {
			s.stall = &workload.Stall{Reason: workload.StallInvalid, Message: "spec.framework: Required value"}
		}},
		{appstatus.ReasonNameConflict, func(s *scene) { s.applied.Conflicts = []workload.Conflict{{Kind: "Service"}} }},
		{appstatus.ReasonForbidden, fails(workload.FailureForbidden)},
		{appstatus.ReasonTerminating, func(s *scene) { s.applied.Terminating = []string{"Service"} }},
		{appstatus.ReasonQuotaExceeded, func(s *scene) {
			s.condition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", "exceeded quota: pods")
		}},
		{appstatus.ReasonUnschedulable, podWith("orders-2-e", unschedulable("0/3 nodes are available"))},
		{appstatus.ReasonImagePullFailed, podWith("orders-2-d", waiting("ImagePullBackOff", "not found"))},
		{appstatus.ReasonConfigMissing, podWith("orders-2-c", waiting("CreateContainerConfigError", "not found"))},
		{appstatus.ReasonCrashLoop, podWith("orders-2-b", crashing(failure))},
		{appstatus.ReasonContainerStartFailed, podWith("orders-2-a", waiting("RunContainerError", "m"))},
		{appstatus.ReasonContainersNotStarted, podWith("orders-2-0", scheduled)},
		{appstatus.ReasonProbeFailing, podWith("orders-2-", runsSince(0, false))},
		{appstatus.ReasonDeploymentPaused, func(s *scene) { s.deployment.Spec.Paused = true }},
		{appstatus.ReasonProgressDeadlineExceeded, func(s *scene) {
			s.condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", "m")
		}},
		{appstatus.ReasonRollingOut, func(*scene) {}},
		{appstatus.ReasonAutoscalerConflict, func(s *scene) {
			autoscaled(s)
			othersAutoscaler("")(s)
		}},
		{appstatus.ReasonExposeUnavailable, exposed(workload.ExposureRoute, nil)},
	}
	for i, first := range ranked {
		for _, second := range ranked[i+1:] {
			s := rollingOut(3)
			if first.reason == appstatus.ReasonAutoscalerConflict {
				s = running(3)
			}
			s.after = 9999
			second.add(s)
			first.add(s)
			slices.SortFunc(s.pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
			got := s.compute()
			if ready := condition(t, got, appstatus.ConditionReady); ready.Reason != first.reason {
				t.Errorf("with %s and %s the reason is %s: %s", first.reason, second.reason, ready.Reason, ready.Message)
			}
			for _, violation := range violations(s, got) {
				t.Errorf("with %s and %s: %s", first.reason, second.reason, violation)
			}
		}
	}
}

func TestManyPodsAreListedToABoundAndCountedExactly(t *testing.T) {
	s := running(500)
	notReady(&s.pods[7])
	crashing(oom)(&s.pods[450])
	s.counts(500, 500, 498, 498)
	got := s.compute()
	for _, violation := range violations(s, got) {
		t.Error(violation)
	}
	if len(got.Pods) != 100 || got.Pods[0] != "orders-2-000" || got.Pods[99] != "orders-2-099" {
		t.Errorf("%d pods are listed: %v, want the first 100", len(got.Pods), got.Pods)
	}
	if len(got.PodStatuses["Running"]) != 99 || len(got.PodStatuses["NotReady"]) != 1 {
		t.Errorf("pods by state are %v, want 99 that run and one that is not ready", got.PodStatuses)
	}
	counts := [...]int32{got.Replicas, got.UpdatedReplicas, got.ReadyReplicas, got.AvailableReplicas}
	if want := [...]int32{500, 500, 498, 498}; counts != want {
		t.Errorf("counts are %v, want %v", counts, want)
	}
	// What is not listed is looked at all the same.
	ready := condition(t, got, appstatus.ConditionReady)
	if ready.Reason != appstatus.ReasonCrashLoop || !strings.Contains(ready.Message, "orders-2-450") {
		t.Errorf("Ready is False for %s: %s; want the crash of orders-2-450", ready.Reason, ready.Message)
	}
}

func TestImageIsThatOfTheLastCompletedRollout(t *testing.T) {
	s := rollingOut(2)
	if got := s.compute().Image; got != oldImage {
		t.Errorf("during the rollout the image is %q, want %q", got, oldImage)
	}
	done := running(2)
	done.previous = s.compute()
	if got := done.compute().Image; got != newImage {
		t.Errorf("after the rollout the image is %q, want %q", got, newImage)
	}
	done.previous = done.compute()
	done.deployment, done.pods = nil, nil
	if got := done.compute().Image; got != newImage {
		t.Errorf("with the Deployment deleted the image is %q, want that of the last rollout, %q", got, newImage)
	}
}

// Half a character at the end would be stored as another one, and be written again for ever.
func TestLongMessageEndsWithAWholeCharacter(t *testing.T) {
	for offset := range 3 {
		s := running(3)
		s.invalid(strings.Repeat("x", offset) + strings.Repeat("€", 20000))
		got := s.compute()
		for _, violation := range violations(s, got) {
			t.Errorf("with %d letters before: %s", offset, violation)
		}
		if ready := condition(t, got, appstatus.ConditionReady); len(ready.Message) < 30000 {
			t.Errorf("with %d letters before: %d bytes are left of the message, want about 32 KB", offset, len(ready.Message))
		}
	}
}

// The image is all that is read of the status before: else a lost status would not come back.
func TestStatusIsComputedAnew(t *testing.T) {
	for _, test := range rows() {
		image := test.scene.previous.Image
		want := test.scene.compute()
		test.scene.previous = appstatus.Status{
			ObservedGeneration: 99, Phase: "Odd", Replicas: 99, ReadyReplicas: 99, UpdatedReplicas: 99, AvailableReplicas: 99, Selector: "odd", Image: image,
			Pods: []string{"odd"}, PodStatuses: map[string][]string{"Odd": {"odd"}},
			Conditions: []metav1.Condition{{Type: appstatus.ConditionReady, Status: metav1.ConditionTrue, Reason: "Odd", Message: "odd"}},
		}
		if diff := cmp.Diff(want, test.scene.compute()); diff != "" {
			t.Errorf("%s: another status before gives another status:\n%s", test.name, diff)
		}
	}
}

// A Deployment counts as updated the pods of the specification that it knows: that may be
// the one before.
func TestUpdatedPodsAreThoseOfThePresentSpecification(t *testing.T) {
	s := running(3)
	if got := s.compute().UpdatedReplicas; got != 3 {
		t.Errorf("%d pods are updated, want 3", got)
	}
	s.deployment.Generation = 5
	if got := s.compute(); got.UpdatedReplicas != 0 || got.ReadyReplicas != 3 {
		t.Errorf("%d pods are updated and %d ready while the Deployment has not looked, want 0 and 3", got.UpdatedReplicas, got.ReadyReplicas)
	}
	// A label changed: that makes a generation too, but leaves the specification as it is.
	s.applied.Generation = 4
	if got := s.compute().UpdatedReplicas; got != 3 {
		t.Errorf("%d pods are updated after a label changed, want 3", got)
	}
}

// Until the old Deployment is gone, nothing of it counts; then the application goes on.
func TestAPendingDeleteIsWaitedFor(t *testing.T) {
	s := running(3)
	s.deployment.DeletionTimestamp = new(epoch)
	s.deployment.OwnerReferences[0].UID = "predecessor"
	s.previous = appstatus.Status{}
	s.applied = workload.Applied{Terminating: []string{"Deployment"}}
	expect(t, s.result(), want{
		reason: appstatus.ReasonTerminating, phase: appstatus.PhaseUpdating, reconciling: true, image: "none",
		says: []string{"Waits until the Deployment of the same name, which is being deleted, is gone."}, states: map[string][]string{},
	})
	if got := s.compute(); got.Replicas != 0 || len(got.Pods) != 0 {
		t.Errorf("the predecessor's %d replicas and pods %v count", got.Replicas, got.Pods)
	}
	s.deployment, s.replicaSets, s.pods, s.applied = nil, nil, nil, workload.Applied{Generation: 1}
	expect(t, s.result(), want{reason: appstatus.ReasonRollingOut, phase: appstatus.PhaseUpdating, reconciling: true, image: "none"})
}

// Pods may mend themselves, so their failure alone does not stall; a rollout that has
// stood still for too long because of it does, and still names what the pods say.
func TestAFailingPodStallsOnceTheRolloutStandsStill(t *testing.T) {
	s := rollingOut(3)
	s.pods[3] = pod("orders-2-000", newRevision, waiting("ImagePullBackOff", "not found"))
	w := want{reason: appstatus.ReasonImagePullFailed, phase: appstatus.PhaseDegraded, reconciling: true, available: true, image: oldImage}
	expect(t, s.result(), w)
	s.condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", "m")
	w.reconciling, w.stalled = false, true
	expect(t, s.result(), w)
}

// An autoscaler decides what replicaCount says no more.
func TestDesiredReplicasAreWhatIsAskedFor(t *testing.T) {
	edited := func(s *scene) { s.workload.Replicas = 5 }
	for name, test := range map[string]struct {
		scene *scene
		want  int32
	}{
		"at rest":                                    {running(3), 3},
		"before anything was made":                   {running(3).with(func(s *scene) { s.deployment = nil }), 3},
		"after a change that is not seen yet":        {running(3).with(edited), 5},
		"while it is paused":                         {running(3).with(paused).with(edited), 5},
		"under its own autoscaler":                   {running(3).with(autoscaled).with(edited), 3},
		"stopped in spite of its autoscaler":         {running(3).with(autoscaled).with(func(s *scene) { s.workload.Replicas = 0 }), 0},
		"under an autoscaler of somebody else":       {running(3).with(edited).with(scaledBy("Deployment")), 3},
		"scaled by its own replicaCount":             {running(3).with(edited).with(scaledBy("EGApp")), 5},
		"with what an autoscaler has left":           {running(3).with(edited).with(held("3")), 3},
		"when nothing is held any more":              {running(3).with(edited).with(held("0")), 5},
		"while the specification is not carried out": {running(3).with(func(s *scene) { s.invalid("no") }), 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.scene.compute().DesiredReplicas; got != test.want {
				t.Errorf("%d pods are asked for, want %d", got, test.want)
			}
		})
	}
}

func scaledBy(kind string) func(*scene) {
	return func(s *scene) { s.autoscalers = []workload.Autoscaler{{Name: "theirs", TargetKind: kind}} }
}

func held(count string) func(*scene) {
	return func(s *scene) { s.deployment.Annotations[workload.AnnotationHeldReplicas] = count }
}
