// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
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

// untruths returns what the status told and was not so: a Ready=True or Available=True without pods that serve, a generation
// from the future, a failure that nobody but the fault saw.
func untruths(p Plan, r *Reference, o *Outcome, effect Effect) []string {
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	all := statuses(p.Scenario.Kind, o.Events)
	told := map[types.UID]string{}
	for _, s := range statuses(p.Scenario.Kind, o.Earlier) {
		told[s.app.GetUID()] = s.claims()
	}
	w := witness{history: slices.Concat(o.Earlier, o.Events), blind: effect.Blind, templates: r.templates(p.Scenario.Kind)}
	for _, s := range all {
		if s.ObservedGeneration > s.app.GetGeneration() || s.ready.ObservedGeneration > s.app.GetGeneration() {
			report("version %s reports a generation that is yet to come", s.app.GetResourceVersion())
		}
		if !r.Reasons[s.String()] && !slices.Contains(effect.Reasons, s.ready.Reason) && !isBacked(s, w.history) {
			report("Ready is %s, which it never is in the reference: %s", s, s.ready.Message)
		}
		if told[s.app.GetUID()] == s.claims() {
			continue
		}
		told[s.app.GetUID()] = s.claims()
		if s.ready.Status == metav1.ConditionTrue {
			if err := w.served(s); err != nil {
				report("version %s reports Ready: %v", s.app.GetResourceVersion(), err)
			}
		}
		if meta.IsStatusConditionTrue(s.Conditions, appstatus.ConditionAvailable) {
			if err := w.wasAvailable(s); err != nil {
				report("version %s reports Available: %v", s.app.GetResourceVersion(), err)
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

// claims is what has to be backed when it is told anew.
func (r reported) claims() string {
	isAvailable := meta.IsStatusConditionTrue(r.Conditions, appstatus.ConditionAvailable)
	return fmt.Sprintf("%s %d %t", r, r.ObservedGeneration, isAvailable)
}

// isBacked tells whether Ready is false for what others do, and they did it lately: the Deployment of the application was in a
// rollout, or a child of its name was on its way out or was left behind by a former application. Which of such moments are
// told depends on the pace of all that take part.
func isBacked(s reported, history []Event) bool {
	return slices.ContainsFunc(history, func(e Event) bool {
		if e.Object.GetName() != s.app.GetName() || s.at.Sub(e.At) > lag || isAfter(e.Object, s.app) {
			return false
		}
		switch s.ready.Reason {
		case appstatus.ReasonRollingOut, appstatus.ReasonPodsNotReady:
			return e.Kind == workload.KindDeployment && metav1.IsControlledBy(e.Object, s.app) && serves(e.Object) != nil
		case appstatus.ReasonTerminating:
			return slices.Contains(childKinds, e.Kind) && (e.Object.GetDeletionTimestamp() != nil || isLeftBehind(e.Object, s.app))
		default:
			return false
		}
	})
}

// isLeftBehind tells whether a child is that of a former application of the name, which the garbage collector is to delete.
func isLeftBehind(child, app *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(child)
	return owner != nil && owner.Kind == app.GetKind() && owner.Name == app.GetName() && owner.UID != app.GetUID()
}

// lag is how old what the status is computed from may be, on a machine that does much else.
const lag = 10 * time.Second

// witness is what a status is held against.
type witness struct {
	history []Event
	// blind is how long the operator sees nothing: it takes for that what was so before.
	blind time.Duration
	// templates are those of [Reference.templates].
	templates map[string][]string
}

// served fails unless the Deployment of the application had, lately, all pods that the present specification asks for, and
// they were available.
func (w witness) served(s reported) error {
	return w.lately(s, func(deployment *unstructured.Unstructured) error {
		if err := serves(deployment); err != nil {
			return err
		}
		return w.isAsked(deployment, s.app)
	})
}

// wasAvailable fails unless the Deployment of the application had a pod available lately, or was to have none.
func (w witness) wasAvailable(s reported) error {
	return w.lately(s, func(deployment *unstructured.Unstructured) error {
		want, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
		available, _, _ := unstructured.NestedInt64(deployment.Object, "status", "availableReplicas")
		if want > 0 && available == 0 {
			return fmt.Errorf("none of %d pods was available", want)
		}
		return nil
	})
}

// lately fails unless something was so, lately, of the Deployment that the application controls.
func (w witness) lately(s reported, isSo func(*unstructured.Unstructured) error) error {
	last := errors.New("there was none")
	for _, e := range slices.Backward(w.history) {
		isOther := e.Kind != workload.KindDeployment || e.Object.GetName() != s.app.GetName()
		if isOther || e.Type == watch.Deleted || isAfter(e.Object, s.app) {
			continue
		}
		if last = isSo(e.Object); last == nil && !metav1.IsControlledBy(e.Object, s.app) {
			last = errors.New("it is not the application's")
		}
		if last == nil {
			return nil
		}
		if s.at.Sub(e.At) > lag+w.blind {
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

// serves fails unless all pods that a version of a Deployment is to have are up to date and available.
func serves(object *unstructured.Unstructured) error {
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
		return err
	}
	status := deployment.Status
	switch {
	case status.ObservedGeneration < deployment.Generation:
		return fmt.Errorf("generation %d of it is observed, not %d", status.ObservedGeneration, deployment.Generation)
	case deployment.Spec.Replicas == nil || status.AvailableReplicas < *deployment.Spec.Replicas || status.UpdatedReplicas < *deployment.Spec.Replicas:
		return fmt.Errorf("%d of its pods are up to date, %d available", status.UpdatedReplicas, status.AvailableReplicas)
	}
	return nil
}

// isAsked fails unless a Deployment has the number of pods that the application asks for, where no autoscaler chooses it, and
// the pod template that it has in the reference with the same specification. Where the reference shows none, as between two
// changes at once, only the image counts.
func (w witness) isAsked(deployment, app *unstructured.Unstructured) error {
	want, isSet, _ := unstructured.NestedInt64(app.Object, "spec", "replicaCount")
	if !isSet {
		want = 1
	}
	isScaled := slices.ContainsFunc(w.history, func(e Event) bool { return e.Kind == workload.KindHorizontalPodAutoscaler })
	if got, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas"); got != want && !isScaled {
		return fmt.Errorf("%d pods are to run, not %d", got, want)
	}
	if known := w.templates[specOf(app)]; len(known) > 0 {
		if got := templateOf(deployment, app); !slices.Contains(known, got) {
			return fmt.Errorf("its pod template is none of the reference's: %s", diffOfJSON(known[len(known)-1], got))
		}
		return nil
	}
	image, _, _ := unstructured.NestedString(app.Object, "spec", "image")
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if !slices.ContainsFunc(containers, func(c any) bool {
		container, _ := c.(map[string]any)
		return container["image"] == image
	}) {
		return fmt.Errorf("none of its containers runs %s: %v", image, containers)
	}
	return nil
}

// specOf is the name and the specification of an application, as one text.
func specOf(app *unstructured.Unstructured) string {
	return app.GetName() + " " + textOf(app.Object["spec"])
}

// templateOf is the pod template of an application's Deployment, as it stands in a [State].
func templateOf(deployment, app *unstructured.Unstructured) string {
	template, _, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "template")
	return strings.NewReplacer(
		app.GetNamespace(), "<namespace>", string(app.GetUID()), "<uid of "+app.GetKind()+" "+app.GetName()+">",
	).Replace(textOf(template))
}

// templates returns the pod templates that the Deployments of applications have after the steps, by [specOf] the
// application. States without rollouts are no JSON and have none.
func (r *Reference) templates(kind string) map[string][]string {
	found := map[string][]string{}
	for _, state := range r.States {
		for key, text := range state {
			name, isApp := strings.CutPrefix(key, kind+" ")
			app, deployment := &unstructured.Unstructured{}, &unstructured.Unstructured{}
			if !isApp || json.Unmarshal([]byte(text), &app.Object) != nil ||
				json.Unmarshal([]byte(state[workload.KindDeployment+" "+name]), &deployment.Object) != nil {
				continue
			}
			template, _, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "template")
			found[specOf(app)] = append(found[specOf(app)], textOf(template))
		}
	}
	return found
}

// textOf is a value as JSON.
func textOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
