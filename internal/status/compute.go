// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package status computes what an application reports. It is pure: the same workload,
// observation and outcome give the same status. It knows no clock: the time is told to it,
// and it tells when time alone would change what it says.
package status

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// Input is what a status is computed from.
type Input struct {
	Workload workload.Workload
	Observed workload.Observed
	Applied  workload.Applied
	// Stall is why the workload was not applied, or nil.
	Stall *workload.Stall
	// PreviousStatus serves for the image alone, which stays that of the last completed
	// rollout; PreviousDetails serve while the workload is not carried out.
	PreviousStatus  appstatus.Status
	PreviousDetails appstatus.Details
	// Now is the present time.
	Now metav1.Time
}

// Result is what an application reports.
type Result struct {
	// Status has conditions without transition times: they are the caller's to keep.
	Status  appstatus.Status
	Details appstatus.Details
	// RecheckAfter is in how many whole seconds the passing of time may change the result,
	// or 0 if only an event can.
	RecheckAfter int64
}

// Compute returns what the application reports.
func Compute(in Input) Result {
	f := newFacts(in)
	cause := f.firstCause()
	s := appstatus.Status{
		ObservedGeneration: f.workload.Owner.Generation,
		Phase:              f.phase(cause),
		Conditions:         f.conditions(cause),
		Selector:           labels.SelectorFromSet(f.workload.Owner.Selector()).String(),
		Image:              in.PreviousStatus.Image,
		DesiredReplicas:    f.desiredReplicas(),
		PodStatuses:        map[string][]string{},
	}
	if f.deployment != nil {
		s.Replicas = f.deployment.Status.Replicas
		s.ReadyReplicas = f.deployment.Status.ReadyReplicas
		if f.deploymentIsCurrent() {
			s.UpdatedReplicas = f.deployment.Status.UpdatedReplicas
		}
		s.AvailableReplicas = f.deployment.Status.AvailableReplicas
		s.Pods, s.PodStatuses = listPods(in.Observed.Pods)
	}
	if f.rolledOut() {
		s.Image = mainImage(f.deployment)
	}
	return Result{Status: s, Details: f.details(in.PreviousDetails), RecheckAfter: f.recheckAfter()}
}

// mainContainer returns the name of the application's container: others may have put
// theirs before it.
func mainContainer(deployment *appsv1.Deployment) string {
	return deployment.Spec.Template.Annotations[workload.AnnotationDefaultContainer]
}

func mainImage(deployment *appsv1.Deployment) string {
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == mainContainer(deployment) {
			return container.Image
		}
	}
	return ""
}
