// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"platformapp/api/appstatus"
	"platformapp/internal/status"
	"platformapp/internal/workload"
)

const (
	oldImage = "registry.example.com/orders:1"
	newImage = "registry.example.com/orders:2"

	oldRevision, newRevision = "1", "2"
)

// scene is everything that a status is computed from.
type scene struct {
	workload   workload.Workload
	deployment *appsv1.Deployment
	// replicaSets by revision.
	replicaSets []metav1.PartialObjectMetadata
	pods        []corev1.Pod
	// children are those beside the Deployment, by kind.
	children    map[string]workload.Object
	platform    workload.Platform
	autoscalers []workload.Autoscaler
	configMaps  map[string]workload.ConfigMap

	applied         workload.Applied
	stall           *workload.Stall
	previous        appstatus.Status
	previousDetails appstatus.Details
	// after is how many seconds after epoch the status is computed.
	after int64
}

// epoch is when pods were scheduled and containers started, unless a scene says otherwise.
var epoch = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

func afterEpoch(seconds int64) metav1.Time { return metav1.Unix(epoch.Unix()+seconds, 0) }

func (s *scene) observed() workload.Observed {
	o := workload.Observed{
		Platform: s.platform, Children: map[string]workload.Object{}, Autoscalers: s.autoscalers, ConfigMaps: s.configMaps,
		ReplicaSets: s.replicaSets, Pods: s.pods,
	}
	maps.Copy(o.Children, s.children)
	if s.deployment != nil {
		o.Children["Deployment"] = s.deployment
	}
	return o
}

func (s *scene) result() status.Result {
	return status.Compute(status.Input{
		Workload: s.workload, Observed: s.observed(), Applied: s.applied, Stall: s.stall,
		PreviousStatus: s.previous, PreviousDetails: s.previousDetails, Now: afterEpoch(s.after),
	})
}

func (s *scene) compute() appstatus.Status { return s.result().Status }

// invalid makes the specification break a rule: its translation gives the owner alone.
func (s *scene) invalid(message string) {
	s.stall = &workload.Stall{Reason: workload.StallInvalid, Message: message}
	s.workload = workload.Workload{Owner: s.workload.Owner}
}

// running is the scene of an application that was rolled out for the second time some time
// ago: n pods of the new image serve.
func running(n int32) *scene {
	s := &scene{
		workload: workload.Workload{
			Owner: workload.Owner{
				GroupVersionKind: schema.GroupVersionKind{Group: "egplatform.platform.evillgenius.com", Version: "v1alpha1", Kind: "EGApp"},
				Namespace:        "team-a", Name: "orders", UID: "app", Generation: 7, SelectorKey: workload.LabelEGApp,
			},
			Replicas:  n,
			Container: workload.Container{Name: "app", Image: newImage},
		},
		replicaSets: []metav1.PartialObjectMetadata{replicaSet(oldRevision), replicaSet(newRevision)},
		previous:    appstatus.Status{Image: newImage},
	}
	s.deployment = &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "orders", UID: "deployment", Generation: 4, Labels: s.workload.Owner.ChildLabels(),
			Annotations:     map[string]string{workload.AnnotationRevision: newRevision},
			OwnerReferences: []metav1.OwnerReference{controller(s.workload.Owner.GroupVersion().String(), "EGApp", "orders", "app")},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(n),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{workload.AnnotationDefaultContainer: "app"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: newImage}}},
			},
		},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 4, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		},
	}
	for i := range n {
		s.pods = append(s.pods, pod(fmt.Sprintf("orders-2-%03d", i), newRevision))
	}
	return s
}

// rollingOut is the scene in which a new image is on its way: the n pods of the old one
// serve, and one of the new one is starting.
func rollingOut(n int32) *scene {
	s := running(n)
	s.previous.Image = oldImage
	s.pods = nil
	for i := range n {
		s.pods = append(s.pods, pod(fmt.Sprintf("orders-1-%03d", i), oldRevision))
	}
	s.pods = append(s.pods, pod("orders-2-000", newRevision, starting))
	s.counts(n+1, 1, n, n)
	s.condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "")
	return s
}

func (s *scene) counts(replicas, updated, ready, available int32) {
	s.deployment.Status.Replicas, s.deployment.Status.UpdatedReplicas = replicas, updated
	s.deployment.Status.ReadyReplicas, s.deployment.Status.AvailableReplicas = ready, available
	s.deployment.Status.UnavailableReplicas = max(replicas-available, 0)
}

func (s *scene) condition(conditionType appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	c := appsv1.DeploymentCondition{Type: conditionType, Status: status, Reason: reason, Message: message}
	for i := range s.deployment.Status.Conditions {
		if s.deployment.Status.Conditions[i].Type == conditionType {
			s.deployment.Status.Conditions[i] = c
			return
		}
	}
	s.deployment.Status.Conditions = append(s.deployment.Status.Conditions, c)
}

// down makes all pods of the newest ReplicaSet what change makes them, with the Deployment
// knowing it.
func (s *scene) down(change func(*corev1.Pod)) {
	for i := range s.pods {
		change(&s.pods[i])
	}
	n := *s.deployment.Spec.Replicas
	s.counts(n, n, 0, 0)
	s.condition(appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "")
}

func replicaSet(revision string) metav1.PartialObjectMetadata {
	return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "orders-" + revision, UID: types.UID("replicaset-" + revision),
		Annotations:     map[string]string{workload.AnnotationRevision: revision},
		OwnerReferences: []metav1.OwnerReference{controller("apps/v1", "Deployment", "orders", "deployment")},
	}}
}

func controller(apiVersion, kind, name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}
}

// pod returns a pod of a revision that is ready, with what the changes make of it.
func pod(name, revision string, changes ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: name,
			OwnerReferences: []metav1.OwnerReference{controller("apps/v1", "ReplicaSet", "orders-"+revision, types.UID("replicaset-"+revision))},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
				{Type: corev1.PodReady, Status: corev1.ConditionTrue},
			},
			InitContainerStatuses: []corev1.ContainerStatus{{
				Name: "migrate", Image: "registry.example.com/migrate:1", Ready: true,
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}},
			}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "app", Image: newImage, Ready: true, Started: new(true),
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			}},
		},
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func notReady(p *corev1.Pod) {
	meta := &p.Status.Conditions[1]
	meta.Status, meta.Reason = corev1.ConditionFalse, "ContainersNotReady"
	p.Status.ContainerStatuses[0].Ready = false
}

// starting: the container runs and its startup probe has not succeeded yet.
func starting(p *corev1.Pod) {
	notReady(p)
	p.Status.ContainerStatuses[0].Started = new(false)
}

func pending(p *corev1.Pod) {
	notReady(p)
	p.Status.Phase = corev1.PodPending
	p.Status.InitContainerStatuses[0].Ready = false
	p.Status.InitContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
	p.Status.ContainerStatuses[0].Started = new(false)
	p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
}

func unschedulable(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message},
		}}
	}
}

// waiting: the container cannot start for a reason.
func waiting(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		pending(p)
		p.Status.InitContainerStatuses = nil
		p.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	}
}

// crashing: the container ended so and waits to be started again.
func crashing(ended corev1.ContainerStateTerminated) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		notReady(p)
		crash(&p.Status.ContainerStatuses[0], ended)
	}
}

func crash(c *corev1.ContainerStatus, ended corev1.ContainerStateTerminated) {
	c.Ready, c.Started, c.RestartCount = false, new(false), 4
	c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 1m20s restarting failed container"}}
	c.LastTerminationState = corev1.ContainerState{Terminated: &ended}
}

// crashingInit: the init container ended so and waits to be started again.
func crashingInit(ended corev1.ContainerStateTerminated) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		pending(p)
		crash(&p.Status.InitContainerStatuses[0], ended)
	}
}

// crashingSidecar: a container that somebody injected ended so; the application's is fine.
func crashingSidecar(ended corev1.ContainerStateTerminated) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		notReady(p)
		p.Status.ContainerStatuses[0].Ready = true
		proxy := corev1.ContainerStatus{Name: "proxy", Image: "registry.example.com/proxy:1"}
		crash(&proxy, ended)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, proxy)
	}
}

// nativeSidecar gives the pod an init container that keeps running beside the others.
func nativeSidecar(p *corev1.Pod) {
	always := corev1.ContainerRestartPolicyAlways
	p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "migrate"}, corev1.Container{Name: "proxy", RestartPolicy: &always})
	p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, corev1.ContainerStatus{
		Name: "proxy", Image: "registry.example.com/proxy:1", Ready: true, Started: new(true),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	})
}

// crashingNativeSidecar: it ended so and waits to be started again.
func crashingNativeSidecar(ended corev1.ContainerStateTerminated) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		nativeSidecar(p)
		notReady(p)
		p.Status.ContainerStatuses[0].Ready = true
		crash(&p.Status.InitContainerStatuses[1], ended)
	}
}

// ended: the container has ended so and was not started again yet.
func ended(state corev1.ContainerStateTerminated) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		notReady(p)
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &state}
		p.Status.ContainerStatuses[0].Started = new(false)
	}
}

func terminating(p *corev1.Pod) {
	p.DeletionTimestamp = new(metav1.NewTime(time.Unix(1, 0)))
}

func evicted(p *corev1.Pod) {
	p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted"
	p.Status.Conditions, p.Status.ContainerStatuses, p.Status.InitContainerStatuses = nil, nil, nil
}

func condition(t *testing.T, s appstatus.Status, conditionType string) metav1.Condition {
	t.Helper()
	c := meta.FindStatusCondition(s.Conditions, conditionType)
	if c == nil {
		t.Fatalf("no condition %s", conditionType)
	}
	return *c
}
