// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"platformapp/api/appstatus"
	"platformapp/internal/status"
	"platformapp/internal/workload"
)

// camelCase is narrower than the pattern that the API server demands of a reason.
var camelCase = regexp.MustCompile(`^[A-Z][A-Za-z]*$`)

// violations tells what of the status cannot be, whatever was observed.
func violations(s *scene, got appstatus.Status) []string {
	var out []string
	fail := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }

	var conditionTypes []string
	for _, c := range got.Conditions {
		conditionTypes = append(conditionTypes, c.Type)
		if c.Status != metav1.ConditionTrue && c.Status != metav1.ConditionFalse {
			fail("condition %s is %q", c.Type, c.Status)
		}
		if c.ObservedGeneration != s.workload.Owner.Generation {
			fail("condition %s is of generation %d, want %d", c.Type, c.ObservedGeneration, s.workload.Owner.Generation)
		}
		if !camelCase.MatchString(c.Reason) {
			fail("condition %s has the reason %q, which is not CamelCase", c.Type, c.Reason)
		}
		if n := utf8.RuneCountInString(c.Message); n == 0 || n > 32768 {
			fail("condition %s has a message of %d characters, want 1 to 32768", c.Type, n)
		}
		// The server would store another text, and the next turn would find a difference.
		if !utf8.ValidString(c.Message) {
			fail("the message of condition %s is not UTF-8", c.Type)
		}
		if !c.LastTransitionTime.IsZero() {
			fail("condition %s has a time, which is not Compute's to know", c.Type)
		}
	}
	if diff := cmp.Diff([]string{"Ready", "Available", "Reconciling", "Stalled"}, conditionTypes); diff != "" {
		fail("condition types:\n%s", diff)
		return out
	}
	ready, available := got.Conditions[0], got.Conditions[1]
	reconciling, stalled := got.Conditions[2].Status == metav1.ConditionTrue, got.Conditions[3].Status == metav1.ConditionTrue

	isReady := ready.Status == metav1.ConditionTrue
	switch ready.Reason {
	case appstatus.ReasonReady, appstatus.ReasonStopped:
		if !isReady {
			fail("Ready is False with reason %s", ready.Reason)
		}
	case appstatus.ReasonPaused:
	default:
		if isReady {
			fail("Ready is True with reason %s", ready.Reason)
		}
	}
	paused := s.workload.Paused && s.stall == nil
	if paused != (got.Phase == appstatus.PhasePaused) || (paused && (stalled || reconciling)) {
		fail("paused is %t in phase %s, with Stalled %t and Reconciling %t", paused, got.Phase, stalled, reconciling)
	}
	if resting := got.Phase == appstatus.PhaseRunning || got.Phase == appstatus.PhaseStopped; !paused && resting != isReady {
		fail("Ready is %s in phase %s", ready.Status, got.Phase)
	}
	if (ready.Reason == appstatus.ReasonStopped) != (got.Phase == appstatus.PhaseStopped) {
		fail("phase %s with reason %s", got.Phase, ready.Reason)
	}
	if stalled && reconciling {
		fail("both Stalled and Reconciling")
	}
	if isReady && (stalled || reconciling) {
		fail("Ready while Stalled is %t and Reconciling is %t", stalled, reconciling)
	}
	if got.Phase == appstatus.PhaseUpdating && !reconciling {
		fail("phase Updating, but Reconciling is False: %s", got.Conditions[2].Message)
	}
	for _, c := range got.Conditions[2:] {
		if c.Status == metav1.ConditionTrue && c.Reason != ready.Reason {
			fail("%s for %s while Ready is False for %s", c.Type, c.Reason, ready.Reason)
		}
	}

	deployment := s.deployment
	if deployment != nil && s.workload.Owner.OwnershipOf(deployment) != workload.Ours {
		deployment = nil
	}
	if isReady {
		out = append(out, reasonsNotToBeReady(s, deployment)...)
	}
	if want := deployment != nil && isAvailable(deployment); (available.Status == metav1.ConditionTrue) != want {
		fail("Available is %s, the Deployment says %t", available.Status, want)
	}
	counts := []int32{got.Replicas, got.UpdatedReplicas, got.ReadyReplicas, got.AvailableReplicas}
	want := []int32{0, 0, 0, 0}
	if deployment != nil {
		d := deployment.Status
		want = []int32{d.Replicas, d.UpdatedReplicas, d.ReadyReplicas, d.AvailableReplicas}
		if !s.deploymentIsCurrent() {
			want[1] = 0 // The Deployment counts pods of the specification before.
		}
	}
	if !slices.Equal(counts, want) {
		fail("counts are %v, the Deployment's %v", counts, want)
	}

	if got.ObservedGeneration != s.workload.Owner.Generation {
		fail("status is of generation %d, want %d", got.ObservedGeneration, s.workload.Owner.Generation)
	}
	if selector, err := labels.Parse(got.Selector); err != nil || !selector.Matches(labels.Set(s.workload.Owner.PodLabels())) || selector.Matches(labels.Set{}) {
		fail("selector %q (%v) does not select exactly the pods", got.Selector, err)
	}
	return append(out, podListViolations(s, got)...)
}

func podListViolations(s *scene, got appstatus.Status) []string {
	var out []string
	if len(got.Pods) > appstatus.MaxPods {
		out = append(out, fmt.Sprintf("%d pods are listed", len(got.Pods)))
	}
	if !slices.IsSorted(got.Pods) {
		out = append(out, "the pods are not sorted")
	}
	var observed, byState []string
	for _, p := range s.pods {
		observed = append(observed, p.Name)
	}
	for state, names := range got.PodStatuses {
		if state == "" || !slices.IsSorted(names) {
			out = append(out, fmt.Sprintf("state %q with pods %v", state, names))
		}
		byState = append(byState, names...)
	}
	slices.Sort(byState)
	if !slices.Equal(byState, got.Pods) {
		out = append(out, fmt.Sprintf("the pods by state are %v, the pods %v", byState, got.Pods))
	}
	for _, name := range got.Pods {
		if !slices.Contains(observed, name) {
			out = append(out, fmt.Sprintf("pod %s was not observed", name))
		}
	}
	return out
}

// reasonsNotToBeReady tells what was observed that an application that is ready has not.
func reasonsNotToBeReady(s *scene, deployment *appsv1.Deployment) []string {
	if deployment == nil {
		return []string{"Ready without a Deployment"}
	}
	var out []string
	d, want := deployment.Status, *deployment.Spec.Replicas
	if !s.deploymentIsCurrent() {
		out = append(out, "Ready while the Deployment's status is out of date")
	}
	if d.Replicas != want || d.UpdatedReplicas != want || d.AvailableReplicas != want {
		out = append(out, fmt.Sprintf("Ready with %d pods, %d updated, %d available of %d", d.Replicas, d.UpdatedReplicas, d.AvailableReplicas, want))
	}
	if s.stall != nil || s.applied.Failure != nil || len(s.applied.Conflicts) > 0 || len(s.applied.Terminating) > 0 || len(s.applied.Waiting) > 0 {
		out = append(out, "Ready while the specification is not carried out")
	}
	for _, p := range s.observed().CurrentPods() {
		active := p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded
		serves := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if active && !serves {
			out = append(out, fmt.Sprintf("Ready while pod %s is not", p.Name))
		}
	}
	return out
}

// deploymentIsCurrent tells whether the Deployment's status is that of what was last written.
func (s *scene) deploymentIsCurrent() bool {
	if s.applied.Generation != 0 {
		return s.deployment.Status.ObservedGeneration >= s.applied.Generation
	}
	return s.deployment.Status.ObservedGeneration >= s.deployment.Generation
}

func isAvailable(d *appsv1.Deployment) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue
	})
}

func TestInvariantsHoldForWhateverIsObserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScene(t)
		before := s.observed()
		copied := before
		copied.Children, copied.Pods = map[string]workload.Object{}, nil
		for kind, child := range before.Children {
			copied.Children[kind] = child.DeepCopyObject().(workload.Object)
		}
		for _, p := range before.Pods {
			copied.Pods = append(copied.Pods, *p.DeepCopy())
		}
		result := s.result()
		got := result.Status
		for _, violation := range violations(s, got) {
			t.Errorf("%s", violation)
		}
		if diff := cmp.Diff(result, s.result()); diff != "" {
			t.Errorf("a second time the status is another:\n%s", diff)
		}
		if diff := cmp.Diff(copied, s.observed()); diff != "" {
			t.Errorf("what was observed, which the cache shares, was changed:\n%s", diff)
		}
		if c := got.Conditions[0]; c.Reason != appstatus.ReasonReady || c.Status != metav1.ConditionTrue {
			timeViolations(t, s, result)
		} else if result.RecheckAfter != 0 {
			t.Errorf("at rest it is looked at again after %d s", result.RecheckAfter)
		}
		if t.Failed() {
			t.Logf("ready: %+v", meta.FindStatusCondition(got.Conditions, appstatus.ConditionReady))
		}
	})
}

// timeViolations checks that time alone changes nothing before the recheck is due.
func timeViolations(t *rapid.T, s *scene, result status.Result) {
	later := *s
	switch {
	case result.RecheckAfter < 0:
		t.Errorf("it is looked at again after %d s", result.RecheckAfter)
		return
	case result.RecheckAfter == 0:
		later.after += 1_000_000
	default:
		later.after += result.RecheckAfter - 1
	}
	if diff := cmp.Diff(result.Status, later.compute()); diff != "" {
		t.Errorf("the status is another after %d s, and nobody would look:\n%s", later.after-s.after, diff)
	}
}

// anyScene draws also what no cluster shows: the invariants hold for it all the same.
func anyScene(t *rapid.T) *scene {
	count := rapid.Int32Range(0, 3)
	s := running(count.Draw(t, "pods"))
	s.workload.Replicas = count.Draw(t, "replicas asked for")
	s.previous.Image = rapid.SampledFrom([]string{"", oldImage, newImage}).Draw(t, "previous image")

	s.deployment.Spec.Replicas = new(rapid.OneOf(rapid.Just(s.workload.Replicas), count).Draw(t, "replicas of the Deployment"))
	s.deployment.Spec.Paused = rapid.Bool().Draw(t, "paused")
	s.counts(count.Draw(t, "replicas"), count.Draw(t, "updated"), count.Draw(t, "ready"), count.Draw(t, "available"))
	s.deployment.Status.ObservedGeneration = rapid.Int64Range(3, 4).Draw(t, "observed generation")
	if rapid.Bool().Draw(t, "status is that of its specification") {
		n := *s.deployment.Spec.Replicas
		s.counts(n, n, n, n)
		s.deployment.Status.ObservedGeneration = 4
	}
	s.deployment.Status.Conditions = nil
	conditionStatus := rapid.SampledFrom([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown})
	for _, conditionType := range []appsv1.DeploymentConditionType{appsv1.DeploymentAvailable, appsv1.DeploymentProgressing, appsv1.DeploymentReplicaFailure} {
		if rapid.Bool().Draw(t, string(conditionType)) {
			reason := rapid.SampledFrom([]string{"", "NewReplicaSetAvailable", "ReplicaSetUpdated", "ProgressDeadlineExceeded", "DeploymentPaused", "FailedCreate"})
			s.condition(conditionType, conditionStatus.Draw(t, "status"), reason.Draw(t, "reason"), anyMessage.Draw(t, "message"))
		}
	}
	switch rapid.IntRange(0, 5).Draw(t, "owner") {
	case 0:
		s.deployment.OwnerReferences[0].UID = "predecessor"
	case 1:
		s.deployment.OwnerReferences[0].Kind, s.deployment.OwnerReferences[0].UID = "Rollout", "other"
	case 2:
		s.deployment = nil
	}
	for i := range s.pods {
		revision := rapid.SampledFrom([]string{oldRevision, newRevision, "unknown"}).Draw(t, "revision")
		s.pods[i] = pod(s.pods[i].Name, revision, anyPodState.Draw(t, "state"))
	}
	anySurroundings(t, s)
	if s.workload.Paused {
		s.applied = workload.Applied{Waiting: rapid.SampledFrom([][]string{nil, {"Deployment"}}).Draw(t, "waiting")}
		if rapid.IntRange(0, 9).Draw(t, "unreadable") == 0 {
			s.applied = workload.Applied{Failure: unreadable(anyMessage.Draw(t, "failure"))}
		}
	} else {
		s.applied = anyApplied(t)
	}
	switch rapid.IntRange(0, 9).Draw(t, "stall") {
	case 0:
		s.stall = &workload.Stall{Reason: workload.StallDuplicateAppID, Message: "The appId is taken. " + anyMessage.Draw(t, "words")}
	case 1:
		s.stall = &workload.Stall{Reason: workload.StallServiceAccount, Message: "The account is not allowed. " + anyMessage.Draw(t, "words")}
	case 2:
		s.invalid("spec.image: Invalid value: " + anyMessage.Draw(t, "invalid"))
	}
	return s
}

// anySurroundings draws what a status depends on beside pods and their Deployment.
func anySurroundings(t *rapid.T, s *scene) {
	s.after = rapid.Int64Range(0, 400).Draw(t, "seconds after epoch")
	s.workload.Paused = rapid.IntRange(0, 4).Draw(t, "paused by the specification") == 0
	maybe := func(label string, change func(*scene)) {
		if rapid.IntRange(0, 3).Draw(t, label) == 0 {
			change(s)
		}
	}
	maybe("probes", func(s *scene) {
		if s.deployment != nil {
			probed(httpProbe("/started", 5, 12), httpProbe("/ready", 10, 3))(s)
		}
	})
	maybe("configuration", func(s *scene) {
		s.workload.References.ConfigMaps = []workload.ConfigMapReference{{Name: "settings", Keys: []string{"a", "b"}}}
		s.configMaps = rapid.SampledFrom([]map[string]workload.ConfigMap{nil, {"settings": {"a": "0"}}, {"settings": {"a": "0", "b": "0"}}}).Draw(t, "ConfigMaps")
	})
	maybe("metrics", func(s *scene) { s.workload.Monitoring = &workload.Monitoring{Port: "http"} })
	maybe("autoscaling", func(s *scene) { s.workload.Autoscaling = &workload.Autoscaling{MinReplicas: 1, MaxReplicas: 3} })
	maybe("another's autoscaler", func(s *scene) {
		s.autoscalers = []workload.Autoscaler{{Name: "theirs", TargetKind: "Deployment", Problem: anyMessage.Draw(t, "problem")}}
	})
	maybe("held replicas", func(s *scene) {
		if s.deployment != nil {
			s.deployment.Annotations[workload.AnnotationHeldReplicas] = "2"
		}
	})
	maybe("exposure", func(s *scene) {
		kind := rapid.SampledFrom([]workload.ExposureType{workload.ExposureAuto, workload.ExposureIngress, workload.ExposureHTTPRoute, workload.ExposureRoute}).Draw(t, "exposure type")
		hosts := rapid.SampledFrom([][]string{nil, oneHost, {"*.example.com"}}).Draw(t, "hosts")
		exposed(kind, hosts, rapid.SliceOf(rapid.SampledFrom([]string{"HTTPRoute", "Route", "ServiceMonitor"})).Draw(t, "optional kinds")...)(s)
		verdict := rapid.SampledFrom([]metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}).Draw(t, "verdict")
		rapid.SampledFrom([]func(*scene){
			func(*scene) {}, ingress, httpRoute(), route(""),
			httpRoute(parent(gatewayRef("edge", "public"), routeCondition("Accepted", verdict, rapid.Int64Range(0, 2).Draw(t, "generation"), "R", "m"))),
			route("a.example.com", router("a.example.com", corev1.ConditionStatus(verdict), "R", "")),
		}).Draw(t, "exposing object")(s)
	})
}

func anyApplied(t *rapid.T) workload.Applied {
	var a workload.Applied
	kinds := rapid.SampledFrom([]string{"Deployment", "Service"})
	switch rapid.IntRange(0, 9).Draw(t, "applied") {
	case 0:
		a.Generation = rapid.Int64Range(1, 5).Draw(t, "generation written")
	case 1:
		a.Conflicts = []workload.Conflict{{Kind: kinds.Draw(t, "kind"), Controller: rapid.SampledFrom([]string{"", "Rollout orders"}).Draw(t, "controller")}}
	case 2:
		a.Terminating = []string{kinds.Draw(t, "kind")}
	case 3:
		a.Failure = &workload.Failure{
			Kind: kinds.Draw(t, "kind"), Message: anyMessage.Draw(t, "failure"),
			Reason: rapid.SampledFrom([]workload.FailureReason{
				workload.FailureForbidden, workload.FailureInvalid, workload.FailureRefused, workload.FailureQuota, workload.FailureNamespaceTerminating, workload.FailureUnserved, workload.FailureTransient,
			}).Draw(t, "reason"),
		}
	}
	a.Modified = rapid.SliceOfN(rapid.Just("Deployment.spec.replicas"), 0, 8).Draw(t, "modified")
	return a
}

var anyMessage = rapid.OneOf(rapid.Just(""), rapid.String(), rapid.SampledFrom([]string{"exceeded quota: pods", "failed quota: q: must specify limits.cpu"}))

var anyPodState = rapid.SampledFrom([]func(*corev1.Pod){
	func(*corev1.Pod) {}, notReady, starting, pending, terminating, evicted,
	unschedulable("0/3 nodes are available"),
	waiting("", ""), waiting("ContainerCreating", ""), waiting("ErrImagePull", "denied"), waiting("CreateContainerConfigError", "configmap \"c\" not found"),
	waiting("RunContainerError", "no such file"), waiting("SomethingNew", ""),
	crashing(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}), crashingInit(corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}),
	crashingSidecar(corev1.ContainerStateTerminated{}), nativeSidecar, crashingNativeSidecar(corev1.ContainerStateTerminated{}), ended(corev1.ContainerStateTerminated{Reason: "Completed"}),
	scheduled, runsSince(0, false), runsSince(50, true), func(p *corev1.Pod) {
		runsSince(0, true)(p)
		servedUntil(3600)(p)
	},
	crashing(corev1.ContainerStateTerminated{ExitCode: 137, StartedAt: epoch, FinishedAt: afterEpoch(61)}),
	func(p *corev1.Pod) { p.Status = corev1.PodStatus{} },
	func(p *corev1.Pod) { p.Status.Phase = corev1.PodUnknown },
	func(p *corev1.Pod) { p.OwnerReferences = nil },
	func(p *corev1.Pod) { p.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{} },
})

func TestInvariantsFindViolations(t *testing.T) {
	for name, spoil := range map[string]func(*appstatus.Status){
		"a condition is missing":        func(s *appstatus.Status) { s.Conditions = s.Conditions[:3] },
		"ready with a cause":            func(s *appstatus.Status) { s.Conditions[0].Reason = appstatus.ReasonCrashLoop },
		"not ready without a cause":     func(s *appstatus.Status) { s.Conditions[0].Status = metav1.ConditionFalse },
		"ready and reconciling":         func(s *appstatus.Status) { s.Conditions[2].Status = metav1.ConditionTrue },
		"ready and stalled":             func(s *appstatus.Status) { s.Conditions[3].Status = metav1.ConditionTrue },
		"available is not the mirror":   func(s *appstatus.Status) { s.Conditions[1].Status = metav1.ConditionFalse },
		"an earlier generation":         func(s *appstatus.Status) { s.Conditions[1].ObservedGeneration-- },
		"a reason in small letters":     func(s *appstatus.Status) { s.Conditions[2].Reason = "at rest" },
		"half a character in a message": func(s *appstatus.Status) { s.Conditions[2].Message = "\xe2\x80" },
		"an empty message":              func(s *appstatus.Status) { s.Conditions[2].Message = "" },
		"a wrong count":                 func(s *appstatus.Status) { s.Replicas++ },
		"a pod that was not observed":   func(s *appstatus.Status) { s.Pods[2] = "x" },
		"a pod without a state":         func(s *appstatus.Status) { s.PodStatuses = nil },
		"a selector of all pods":        func(s *appstatus.Status) { s.Selector = "" },
		"another phase":                 func(s *appstatus.Status) { s.Phase = appstatus.PhaseUpdating },
	} {
		s := running(3)
		got := s.compute()
		if found := violations(s, got); len(found) > 0 {
			t.Fatalf("violations in the status of a running application: %v", found)
		}
		spoil(&got)
		if len(violations(s, got)) == 0 {
			t.Errorf("%s: no violation is found", name)
		}
	}
}
