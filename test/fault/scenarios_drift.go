// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"platformapp/internal/workload"
)

// drift are the scenarios in which others meddle with the children of an application.
func drift(s subject) []Scenario {
	before := []Step{s.created()}
	return []Scenario{
		{Kind: s.kind, Name: "children-deleted", Before: before, Steps: restores(deletions(s)...)},
		{Kind: s.kind, Name: "children-edited", Races: true, Before: before, Steps: restores(edits(s)...)},
		{
			Kind: s.kind, Name: "children-stripped", Before: before,
			Steps: restores(
				stripped(s, "owner references", `{"metadata":{"ownerReferences":null}}`),
				stripped(s, "labels", fmt.Sprintf(`{"metadata":{"labels":{%q:null,%q:null,%q:null,%q:null}}}`,
					workload.LabelManagedBy, workload.LabelOwnerUID, workload.LabelEGApp, workload.LabelDemoMicroService)),
			),
		},
		{
			Kind: s.kind, Name: "foreign-fields", Before: before,
			Steps: []Step{
				patchAs(injector, "Deployment", orders, types.StrategicMergePatchType, `{"metadata":{"annotations":{"injector.example.com/done":"yes"}},
					"spec":{"template":{"metadata":{"annotations":{"injector.example.com/version":"1"}},
					"spec":{"containers":[{"name":"proxy","image":"registry.example.com/proxy:1"}]}}}}`,
					all(runs(s.kind, orders, 1), container(orders, image1, 2))),
				// A change of the application leaves alone what is not the operator's.
				edit(s.kind, orders, `{"spec":{"image":"`+image2+`"}}`, all(runs(s.kind, orders, 1), container(orders, image2, 2))),
				patchAs(meddler, "Deployment", orders, types.StrategicMergePatchType,
					`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:00Z"}}}}}`,
					all(runs(s.kind, orders, 1), container(orders, image2, 2))),
			},
		},
	}
}

// deletions delete the Deployment, and then all other children at once.
func deletions(s subject) []Step {
	steps := []Step{remove("Deployment", orders, s.runsAll(image1, 1))}
	if len(s.children) == 1 {
		return steps
	}
	var others []Step
	for _, kind := range s.children[1:] {
		others = append(others, remove(kind, orders, nil))
	}
	return append(steps, together("delete the other children", s.runsAll(image1, 1), others...))
}

// edits change fields of the children that are the operator's.
func edits(s subject) []Step {
	restored := s.runsAll(image1, 1)
	steps := []Step{
		patchAs(meddler, "Deployment", orders, types.JSONPatchType,
			`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"registry.example.com/other:1"}]`, restored),
		scale(meddler, orders, 3, restored),
		patchAs(meddler, "Deployment", orders, types.MergePatchType,
			`{"metadata":{"labels":{"app.kubernetes.io/name":"other"},"annotations":{"`+workload.AnnotationAppliedHash+`":null}}}`, restored),
	}
	if len(s.children) == 1 {
		return steps
	}
	edit := func(kind, patch string) Step { return patchAs(meddler, kind, orders, types.MergePatchType, patch, nil) }
	return append(steps, together("edit the other children", restored,
		edit("Service", `{"spec":{"selector":{"`+workload.LabelEGApp+`":"other"}}}`),
		edit("PodDisruptionBudget", `{"spec":{"maxUnavailable":7}}`),
		edit("NetworkPolicy", `{"spec":{"policyTypes":["Ingress","Egress"]}}`),
		edit("Ingress", `{"spec":{"rules":[{"host":"other.example.com"}]}}`),
	))
}

// stripped is the step in which every child loses something by a patch.
func stripped(s subject, what, patch string) Step {
	return Step{Name: "take the " + what + " away", Holds: all(s.runsAll(image1, 1), labelled(s)), Do: func(ctx context.Context, stage *Stage) error {
		for _, kind := range s.children {
			if err := stage.Patch(ctx, kind, orders, types.MergePatchType, patch, meddler); err != nil {
				return err
			}
		}
		return nil
	}}
}

// labelled holds when every child carries the label that the operator finds it by.
func labelled(s subject) check {
	return func(v View) error {
		for _, kind := range s.children {
			if err := has(kind, orders, workload.ManagedBy, "metadata", "labels", workload.LabelManagedBy)(v); err != nil {
				return err
			}
		}
		return nil
	}
}
