// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"platformapp/internal/resources"
	"platformapp/internal/status"
	"platformapp/internal/workload"
)

// State is what a stored status tells of an application.
type State string

// The states of applications in the corpus.
const (
	// StateNew: the operator has not looked at it yet.
	StateNew State = "New"
	// StateStarting: its children are there, its pods not yet.
	StateStarting State = "Starting"
	// StateRunning: all its pods serve.
	StateRunning State = "Running"
	// StateCrashing: all its pods end again and again.
	StateCrashing State = "Crashing"
)

// mostPods bounds the pods of an application that asks for many.
const mostPods = 3

// status returns the status that the operator writes for an application in a state. One
// that breaks a rule is told so, in whatever state it is.
func (op Operator) status(object map[string]any, cluster Cluster, state State) (map[string]any, error) {
	at, err := time.Parse(time.RFC3339, created)
	if err != nil {
		return nil, err
	}
	w, refusal, err := op.workload(object, cluster)
	if err != nil {
		return nil, err
	}
	in := status.Input{Workload: w, Observed: cluster.observed(w.Owner), Now: metav1.NewTime(at)}
	if refusal != "" {
		in.Stall = &workload.Stall{Reason: workload.StallInvalid, Message: refusal}
	} else if err := bringTo(&in, state); err != nil {
		return nil, err
	}
	result := status.Compute(in)
	for i := range result.Status.Conditions {
		result.Status.Conditions[i].LastTransitionTime = in.Now
	}
	return toStatus(object["kind"], result)
}

func toStatus(kind any, result status.Result) (map[string]any, error) {
	written, details := map[string]any{}, map[string]any{}
	if err := convert(result.Status, &written); err != nil {
		return nil, err
	}
	if kind == "EGApp" {
		if err := convert(result.Details, &details); err != nil {
			return nil, err
		}
	}
	maps.Copy(written, details)
	return readObject(written)
}

// bringTo makes the children of the workload, and the pods as the state has them.
func bringTo(in *status.Input, state State) error {
	for _, child := range resources.Desired(in.Workload, in.Observed) {
		for _, kind := range resources.Kinds {
			if kind.Name != child.Kind {
				continue
			}
			live := kind.New()
			if err := convert(child.Config, live); err != nil {
				return err
			}
			live.SetGeneration(1)
			in.Observed.Children[kind.Name] = live
		}
	}
	deployment := in.Observed.Deployment()
	deployment.UID = "deployment"
	metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, workload.AnnotationRevision, "1")
	deployment.Status.ObservedGeneration = 1
	if deployment.Spec.Replicas == nil { // An autoscaler decides.
		deployment.Spec.Replicas = new(in.Workload.Replicas)
	}
	count := min(*deployment.Spec.Replicas, mostPods)
	deployment.Spec.Replicas = &count
	if state == StateStarting {
		return nil
	}
	available := corev1.ConditionFalse
	deployment.Status.Replicas, deployment.Status.UpdatedReplicas = count, count
	if state != StateCrashing {
		available = corev1.ConditionTrue
		deployment.Status.ReadyReplicas, deployment.Status.AvailableReplicas = count, count
	}
	deployment.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: available}}
	replicaSet := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: deployment.Name + "-5d8f7", UID: "replicaset", Annotations: map[string]string{workload.AnnotationRevision: "1"},
		OwnerReferences: controlledBy("Deployment", deployment.Name, deployment.UID),
	}}
	in.Observed.ReplicaSets = []metav1.PartialObjectMetadata{replicaSet}
	for i := range count {
		pod := podOf(deployment, state, in.Now)
		pod.Name = fmt.Sprintf("%s-%c", replicaSet.Name, 'a'+i)
		pod.OwnerReferences = controlledBy("ReplicaSet", replicaSet.Name, replicaSet.UID)
		in.Observed.Pods = append(in.Observed.Pods, pod)
	}
	return nil
}

func controlledBy(kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: uid, Controller: new(true)}}
}

// podOf returns a pod of a Deployment in a state.
func podOf(deployment *appsv1.Deployment, state State, now metav1.Time) corev1.Pod {
	pod := corev1.Pod{Spec: *deployment.Spec.Template.Spec.DeepCopy()}
	ready := corev1.ConditionTrue
	if state == StateCrashing {
		ready = corev1.ConditionFalse
	}
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: now}}
	for _, container := range pod.Spec.Containers {
		s := corev1.ContainerStatus{Name: container.Name, Image: container.Image, Ready: state != StateCrashing, Started: new(state != StateCrashing)}
		if state == StateCrashing {
			s.RestartCount = 3
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s"}
			s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", FinishedAt: now}
		} else {
			s.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, s)
	}
	return pod
}
