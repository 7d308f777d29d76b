// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package appstatus

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaxPods bounds the lists of pod names in a status. The counts beside them stay exact.
const MaxPods = 100

// Status is what an application of either kind reports. It holds no time of its own, so that an application at rest writes nothing; only a condition has one, which moves with the condition's status alone.
type Status struct {
	// ObservedGeneration is the metadata.generation that this status describes. It is -1 until the operator has looked.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Phase sums the application up in one word, for lists. Ready, with its reason and message, tells why.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Status",xDescriptors={"urn:alm:descriptor:io.kubernetes.phase"}
	Phase Phase `json:"phase,omitempty"`

	// Conditions tell the state of the application: Ready (the summary), Available (enough pods serve), Reconciling (a change is under way) and Stalled (it waits for a person).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Conditions",xDescriptors={"urn:alm:descriptor:io.kubernetes.conditions"}
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Replicas counts the pods of the application, old and new.
	// +optional
	Replicas int32 `json:"replicas"`

	// DesiredReplicas is the number of pods that is asked for, by the specification or by an autoscaler.
	// +optional
	DesiredReplicas int32 `json:"desiredReplicas"`

	// ReadyReplicas counts the pods that are ready to serve.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Ready Pods",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:podCount"}
	ReadyReplicas int32 `json:"readyReplicas"`

	// UpdatedReplicas counts the pods that run the current specification.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// AvailableReplicas counts the pods that have been ready for long enough to be relied upon.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// Selector is the label selector of exactly the application's pods, in the form that kubectl get pods --selector takes; the scale subresource serves it.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Image is the container image that runs: it changes when a rollout has ended.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Running Image",xDescriptors={"urn:alm:descriptor:text"}
	Image string `json:"image,omitempty"`

	// Pods names the application's pods in alphabetical order, at most 100 of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Pods []string `json:"pods,omitempty"`

	// PodStatuses groups the names in pods by the state of the pod: Running (ready), NotReady, Pending, Terminating, Failed, Succeeded, or a container's reason such as CrashLoopBackOff. It is empty, not left out, when there are none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Pods by State",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:podStatuses"}
	PodStatuses map[string][]string `json:"podStatuses"`
}
