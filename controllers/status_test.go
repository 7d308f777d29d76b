// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// replicaSet plays the Deployment controller: it makes the ReplicaSet of the present template.
func (l *loop) replicaSet(name, revision string) *appsv1.ReplicaSet {
	l.Helper()
	deployment := l.deployment(name)
	l.change(deployment, func() {
		metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, "deployment.kubernetes.io/revision", revision)
	})
	replicaSet := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: name + "-" + revision, Labels: deployment.Spec.Template.Labels,
			Annotations:     map[string]string{"deployment.kubernetes.io/revision": revision},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: deployment.Spec.Selector, Template: deployment.Spec.Template},
	}
	l.create(replicaSet)
	eventually(l.TB, func() error {
		seen := &metav1.PartialObjectMetadata{}
		seen.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
		return l.reader.Get(l.ctx, types.NamespacedName{Namespace: l.namespace, Name: replicaSet.Name}, seen)
	})
	return replicaSet
}

// pod plays the ReplicaSet controller and the kubelet.
func (l *loop) pod(replicaSet *appsv1.ReplicaSet, name string, status corev1.PodStatus) *corev1.Pod {
	l.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: replicaSet.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(replicaSet, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		},
		Spec: replicaSet.Spec.Template.Spec,
	}
	l.create(pod)
	l.podStatus(pod, status)
	return pod
}

func (l *loop) podStatus(pod *corev1.Pod, status corev1.PodStatus) {
	l.Helper()
	l.read(pod)
	pod.Status = status
	l.must(l.user.Status().Update(l.ctx, pod))
}

func servingPod() corev1.PodStatus {
	return corev1.PodStatus{
		Phase:             corev1.PodRunning,
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "app-00123", Ready: true, Started: new(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
	}
}

func crashingPod() corev1.PodStatus {
	return corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "app-00123", RestartCount: 4,
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
		}},
	}
}

func TestThePodsOfTheStatusAreSortedAndOnlyTheApplicationsOwn(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	replicaSet := l.replicaSet("orders", "1")
	for _, name := range []string{"orders-c", "orders-a", "orders-b"} {
		l.pod(replicaSet, name, servingPod())
	}
	stranger := replicaSet.DeepCopy()
	stranger.UID = "of-another"
	l.pod(stranger, "orders-stranger", crashingPod())
	l.rollOut("orders")
	l.reconcile(app)
	if got := app.Status.Pods; !slices.Equal(got, []string{"orders-a", "orders-b", "orders-c"}) {
		t.Errorf("status.pods is %v", got)
	}
	if got := app.Status.PodStatuses["Running"]; len(got) != 3 || len(app.Status.PodStatuses) != 1 {
		t.Errorf("status.podStatuses is %v", app.Status.PodStatuses)
	}
	if app.Status.Phase != appstatus.PhaseRunning {
		t.Errorf("phase is %s: %v", app.Status.Phase, app.Status.Conditions)
	}
}

func TestReadyGoesWithinOneTurnOfACrashAndComesBack(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	replicaSet := l.replicaSet("orders", "1")
	pod := l.pod(replicaSet, "orders-a", servingPod())
	l.pod(replicaSet, "orders-b", servingPod())
	l.pod(replicaSet, "orders-c", servingPod())
	l.rollOut("orders")
	l.reconcile(app)

	// The Deployment controller has not noticed yet.
	l.podStatus(pod, crashingPod())
	if _, err := l.turn(app); err != nil {
		t.Fatal(err)
	}
	l.read(app)
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if ready.Status != metav1.ConditionFalse || ready.Reason != appstatus.ReasonCrashLoop ||
		!strings.Contains(ready.Message, "app-00123") || !strings.Contains(ready.Message, "137 (OOMKilled)") {
		t.Errorf("Ready is %s %s: %s", ready.Status, ready.Reason, ready.Message)
	}
	l.podStatus(pod, servingPod())
	l.reconcile(app)
	if !meta.IsStatusConditionTrue(app.Status.Conditions, appstatus.ConditionReady) {
		t.Errorf("not Ready after the crash is over: %v", app.Status.Conditions)
	}
}

func TestCountsAloneAreWrittenOnceASecondAndTransitionsAtOnce(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.create(app)
	l.reconcile(app)
	replicaSet := l.replicaSet("orders", "1")
	writes := l.requests.writes()
	l.clock.Step(time.Hour)
	for i, name := range []string{"orders-a", "orders-b", "orders-c"} {
		l.pod(replicaSet, name, corev1.PodStatus{Phase: corev1.PodPending})
		result, err := l.turn(app)
		l.must(err)
		if i > 0 && (result.RequeueAfter <= 0 || result.RequeueAfter > time.Second) {
			t.Errorf("a held back write is due after %s", result.RequeueAfter)
		}
	}
	if got := l.requests.writes() - writes; got != 1 {
		t.Errorf("%d writes of lists alone within a second, want 1", got)
	}
	l.clock.Step(time.Second)
	_, err := l.turn(app)
	l.must(err)
	l.read(app)
	if len(app.Status.Pods) != 3 {
		t.Errorf("a second later status.pods is %v", app.Status.Pods)
	}

	l.rollOut("orders")
	_, err = l.turn(app)
	l.must(err)
	l.read(app)
	if len(app.Status.Conditions) == 0 || app.Status.ReadyReplicas != 3 {
		t.Errorf("counts beside a transition are not written at once: %d", app.Status.ReadyReplicas)
	}
}

func TestTheFirstStatusTellsZeroPods(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.create(app)
	_, err := l.turn(app)
	l.must(err)
	stored := asWritten("egplatform.platform.evillgenius.com/v1alpha1", "EGApp", app.Name, nil)
	l.read(stored)
	if ready, found, err := unstructured.NestedInt64(stored.Object, "status", "readyReplicas"); !found || ready != 0 || err != nil {
		t.Errorf("status.readyReplicas is stored: %t, %d, %v", found, ready, err)
	}
}

func TestTransitionTimesMoveOnlyOnATransition(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	long := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	for i := range app.Status.Conditions {
		app.Status.Conditions[i].LastTransitionTime = long
	}
	l.must(l.user.Status().Update(l.ctx, app))
	l.change(app, func() { app.Spec.ReplicaCount = new(int32(4)) })
	l.reconcile(app)
	for conditionType, moves := range map[string]bool{
		appstatus.ConditionReady: true, appstatus.ConditionReconciling: true, appstatus.ConditionStalled: false, appstatus.ConditionAvailable: false,
	} {
		condition := meta.FindStatusCondition(app.Status.Conditions, conditionType)
		if moved := !condition.LastTransitionTime.Equal(&long); moved != moves {
			t.Errorf("the transition time of %s has moved: %t", conditionType, moved)
		}
		if condition.ObservedGeneration != app.Generation {
			t.Errorf("%s is of generation %d, want %d", conditionType, condition.ObservedGeneration, app.Generation)
		}
	}
}

func TestEventsTellTransitionsOnce(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	for range 5 {
		_, err := l.turn(app)
		l.must(err)
	}
	close(l.events.Events)
	var got []string
	for event := range l.events.Events {
		got = append(got, strings.Join(strings.Fields(event)[:2], " "))
	}
	if want := []string{"Normal RollingOut", "Normal Ready"}; !slices.Equal(got, want) {
		t.Errorf("the events are %v, want %v", got, want)
	}
}

func TestAStatusIsNeverWrittenOnASuccessor(t *testing.T) {
	t.Parallel()
	faulty := &faultyClient{}
	l := newLoop(t, wrapped(around(faulty)))
	app := ordersApp()
	l.create(app)
	// The EGApp is deleted and made anew between the look and the status write.
	successor := ordersApp()
	faulty.before = func(write int) {
		if write == 3 {
			l.must(l.user.Delete(l.ctx, app.DeepCopy()))
			l.create(successor)
		}
	}
	result, err := l.turn(app)
	l.must(err)
	if result.RequeueAfter <= 0 || result.RequeueAfter > time.Second {
		t.Errorf("it looks again after %s", result.RequeueAfter)
	}
	l.read(successor)
	if successor.Status.ObservedGeneration > 0 || len(successor.Status.Conditions) > 0 {
		t.Errorf("the successor has the status of the predecessor: %v", successor.Status)
	}
}

func TestARefusalIsToldInTheServersWords(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Group: "apps", Resource: "deployments"}
	for name, test := range map[string]struct {
		fault  error
		reason string
		want   string
	}{
		"a missing right":      {apierrors.NewForbidden(resource, "orders", errors.New(`User "operator" cannot patch resource "deployments" in API group "apps" in the namespace "x"`)), appstatus.ReasonForbidden, "cannot patch resource"},
		"a policy":             {apierrors.NewForbidden(resource, "orders", errors.New("ValidatingAdmissionPolicy 'no-go' denied request")), appstatus.ReasonRefused, "no-go"},
		"a quota":              {apierrors.NewForbidden(resource, "orders", errors.New("exceeded quota: small, requested: count/deployments.apps=1")), appstatus.ReasonQuotaExceeded, "exceeded quota: small"},
		"a webhook that fails": {apierrors.NewInternalError(errors.New("failed calling webhook \"w\"")), appstatus.ReasonApplyFailed, "failed calling webhook"},
	} {
		t.Run(name, func(t *testing.T) {
			faulty := &faultyClient{at: 1, err: test.fault}
			l := newLoop(t, wrapped(around(faulty)))
			app := ordersApp()
			l.create(app)
			result, err := l.turn(app)
			if retried := err != nil; retried != (test.reason == appstatus.ReasonApplyFailed) {
				t.Errorf("it is retried with backoff: %t", retried)
			}
			if err != nil {
				// The first error in a row is not told.
				l.read(app)
				if len(app.Status.Conditions) > 0 {
					t.Errorf("one error is told: %v", app.Status.Conditions)
				}
				faulty.at = faulty.writes + 1
				_, _ = l.turn(app)
			}
			if err == nil && (result.RequeueAfter < 30*time.Second || result.RequeueAfter > time.Minute) {
				t.Errorf("it is tried again after %s, want at most once and at least twice in a minute", result.RequeueAfter)
			}
			l.read(app)
			ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
			if ready == nil || ready.Reason != test.reason || !strings.Contains(ready.Message, test.want) {
				t.Errorf("Ready is %v", ready)
			}
			l.reconcile(app)
			l.rollOut("orders")
			l.reconcile(app)
			if app.Status.Phase != appstatus.PhaseRunning {
				t.Errorf("after the fault is over the phase is %s", app.Status.Phase)
			}
		})
	}
}

func TestAStoredObjectThatBreaksARuleOfTodayStalls(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.create(app)
	// An object of before the rule: the schema of today would refuse to store it.
	stored := app.DeepCopy()
	stored.Spec.Framework, stored.Spec.ReplicaCount = "rust", new(int32(-1))
	l = l.restarted(serving(stored))
	result, err := l.turn(app)
	if err != nil || result.RequeueAfter != 0 {
		t.Errorf("it is tried again: %v %v", result, err)
	}
	l.read(app)
	ready := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionReady)
	if ready == nil || ready.Reason != appstatus.ReasonInvalidSpec {
		t.Fatalf("Ready is %v", ready)
	}
	for _, want := range []string{"spec.framework", `"java", "python", "go"`, "spec.replicaCount"} {
		if !strings.Contains(ready.Message, want) {
			t.Errorf("the message lacks %s: %s", want, ready.Message)
		}
	}
	if l.exists(foreignDeployment("orders")) {
		t.Error("a Deployment was made of it")
	}
}

// serving lets the operator read the given EGApp in place of the stored one.
func serving(app *v1alpha1.EGApp) loopOption {
	return wrapped(func(c client.Client) client.Client { return &servingClient{c, app} })
}

type servingClient struct {
	client.Client
	app *v1alpha1.EGApp
}

func (s *servingClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if app, ok := object.(*v1alpha1.EGApp); ok {
		s.app.DeepCopyInto(app)
		return nil
	}
	return s.Client.Get(ctx, key, object, opts...)
}
