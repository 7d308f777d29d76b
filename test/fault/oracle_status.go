// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// reported is what a version of an application reports.
type reported struct {
	app   *unstructured.Unstructured
	at    time.Time
	ready metav1.Condition
	appstatus.Status
}

// String is the status and the reason of Ready.
func (r reported) String() string { return string(r.ready.Status) + " " + r.ready.Reason }

// statuses returns what the applications of a kind report in the events, version by version, once the operator has looked.
func statuses(kind string, events []Event) []reported {
	var all []reported
	for _, e := range events {
		if e.Kind != kind || e.Type == watch.Deleted {
			continue
		}
		status, err := statusOf(e.Object)
		ready := meta.FindStatusCondition(status.Conditions, appstatus.ConditionReady)
		if err == nil && ready != nil {
			all = append(all, reported{app: e.Object, at: e.At, ready: *ready, Status: status})
		}
	}
	return all
}

// falls counts how often Ready went from True to False.
func falls(all []reported) int {
	n := 0
	for i := 1; i < len(all); i++ {
		isSame := all[i].app.GetUID() == all[i-1].app.GetUID()
		if isSame && all[i-1].ready.Status == metav1.ConditionTrue && all[i].ready.Status == metav1.ConditionFalse {
			n++
		}
	}
	return n
}

// untruths returns what the status told and was not so: a Ready=True without pods that serve, a generation from the future,
// a failure that nobody but the fault saw.
func untruths(p Plan, r *Reference, o *Outcome, effect Effect) []string {
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	all := statuses(p.Scenario.Kind, o.Events)
	history := slices.Concat(o.Earlier, o.Events)
	for i, s := range all {
		if s.ObservedGeneration > s.app.GetGeneration() || s.ready.ObservedGeneration > s.app.GetGeneration() {
			report("version %s reports a generation that is yet to come", s.app.GetResourceVersion())
		}
		if !r.Reasons[s.String()] && !slices.Contains(effect.Reasons, s.ready.Reason) && !isBacked(s, history) {
			report("Ready is %s, which it never is in the reference: %s", s, s.ready.Message)
		}
		isNews := i == 0 || all[i-1].String() != s.String() || all[i-1].ObservedGeneration != s.ObservedGeneration
		if isNews && s.ready.Reason == appstatus.ReasonReady {
			if err := served(s, history, effect.Blind); err != nil {
				report("version %s reports Ready: %v", s.app.GetResourceVersion(), err)
			}
		}
	}
	// A single fault takes nothing down: each step does once at most, and what a person has to put right. Who learns late may
	// meet the middle of a rollout twice.
	most := max(r.Falls, len(p.Scenario.Steps)) + 2*len(effect.Reasons)
	if effect.Blind > 0 {
		most += len(p.Scenario.Steps)
	}
	if n := falls(all); n > most {
		report("Ready fell %d times, in the reference %d", n, r.Falls)
	}
	return found
}

// isBacked tells whether Ready is false for what others do, and they did it lately: the Deployment of the application was in a
// rollout, or an object of its name was on its way out. Which of such moments are told depends on the pace of all that take
// part.
func isBacked(s reported, history []Event) bool {
	return slices.ContainsFunc(history, func(e Event) bool {
		if e.Object.GetName() != s.app.GetName() || s.at.Sub(e.At) > lag || isAfter(e.Object, s.app) {
			return false
		}
		switch s.ready.Reason {
		case appstatus.ReasonRollingOut, appstatus.ReasonPodsNotReady:
			return e.Kind == workload.KindDeployment && serves(e.Object, s.app) != nil
		case appstatus.ReasonTerminating:
			return e.Object.GetDeletionTimestamp() != nil
		default:
			return false
		}
	})
}

// lag is how old what the status is computed from may be, on a machine that does much else.
const lag = 10 * time.Second

// served fails unless the Deployment of the application had, lately, its pods of the present specification available. Who is
// blind for a time takes for that what was so before.
func served(s reported, history []Event, blind time.Duration) error {
	last := errors.New("there was none")
	for _, e := range slices.Backward(history) {
		if e.Kind != workload.KindDeployment || e.Object.GetName() != s.app.GetName() || isAfter(e.Object, s.app) {
			continue
		}
		if last = serves(e.Object, s.app); last == nil {
			return nil
		}
		if s.at.Sub(e.At) > lag+blind {
			break
		}
	}
	return fmt.Errorf("no Deployment served: %w", last)
}

// isAfter tells whether a version of an object is younger than one of another: all are revisions of one store.
func isAfter(a, b *unstructured.Unstructured) bool {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order > 0
}

// serves fails unless all pods of a Deployment's version are available and run the image of the application.
func serves(object, app *unstructured.Unstructured) error {
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
		return err
	}
	image, _, _ := unstructured.NestedString(app.Object, "spec", "image")
	status := deployment.Status
	switch {
	case status.ObservedGeneration < deployment.Generation:
		return fmt.Errorf("generation %d of it is observed, not %d", status.ObservedGeneration, deployment.Generation)
	case deployment.Spec.Replicas == nil || status.AvailableReplicas < *deployment.Spec.Replicas || status.UpdatedReplicas < *deployment.Spec.Replicas:
		return fmt.Errorf("%d of its pods are up to date, %d available", status.UpdatedReplicas, status.AvailableReplicas)
	}
	containers := deployment.Spec.Template.Spec.Containers
	if !slices.ContainsFunc(containers, func(c corev1.Container) bool { return c.Image == image }) {
		return fmt.Errorf("none of its containers runs %s: %v", image, containers)
	}
	return nil
}
