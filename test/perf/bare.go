// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/resources"
	"platformapp/internal/status"
	"platformapp/internal/workload"
)

// bare makes an application, its children and both of its statuses, one write after the other, without looking at
// anything: what no operator can be faster than.
type bare struct {
	*stage
	// post creates the children in place of applying them.
	post bool
}

// run makes n applications and returns how long it took.
func (b bare) run(ctx context.Context, n int) (time.Duration, error) {
	start := time.Now()
	err := inParallel(ctx, parallel, n, func(ctx context.Context, i int) error { return b.one(ctx, b.newApp(i)) })
	if err == nil {
		err = b.awaitReady(n)
	}
	return time.Since(start), err
}

func (b bare) one(ctx context.Context, app application) error {
	if err := b.client.Create(ctx, app); err != nil {
		return err
	}
	w, err := b.subject.workload(app)
	if err != nil {
		return err
	}
	children := resources.Desired(w, workload.Observed{})
	// Before they are written: the server's answer is read into what is sent.
	serving, err := asServing(children)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := b.write(ctx, child); err != nil {
			return err
		}
	}
	begun := status.Input{Workload: w, Now: metav1.Now()}
	if err := b.writeStatus(ctx, app, begun); err != nil {
		return err
	}
	served := begun
	served.Observed.Children = map[string]workload.Object{workload.KindDeployment: serving}
	return b.writeStatus(ctx, app, served)
}

func (b bare) write(ctx context.Context, child resources.Child) error {
	if !b.post {
		return b.client.Apply(ctx, child.Config, client.FieldOwner(workload.FieldManager), client.ForceOwnership)
	}
	object, err := asObject(child)
	if err != nil {
		return err
	}
	return b.client.Create(ctx, object)
}

// writeStatus writes a status as the operator does: whole, and only over the state that was read.
func (b bare) writeStatus(ctx context.Context, app application, in status.Input) error {
	result := status.Compute(in)
	for i := range result.Status.Conditions {
		result.Status.Conditions[i].LastTransitionTime = in.Now
	}
	*app.AppStatus() = result.Status
	if details := app.AppDetails(); details != nil {
		*details = result.Details
	}
	content, err := json.Marshal(app)
	if err != nil {
		return err
	}
	var stored struct {
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(content, &stored); err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": app.GetResourceVersion()}, "status": stored.Status,
	})
	if err != nil {
		return err
	}
	return b.client.Status().Patch(ctx, app, client.RawPatch(types.MergePatchType, patch))
}

// asObject returns a child as an object of its kind.
func asObject(child resources.Child) (client.Object, error) {
	for _, kind := range resources.Kinds {
		if kind.Name != child.Kind {
			continue
		}
		content, err := json.Marshal(child.Config)
		if err != nil {
			return nil, err
		}
		object := kind.New()
		return object, json.Unmarshal(content, object)
	}
	return nil, errUnknownKind(child.Kind)
}

// asServing returns the Deployment of the children as it is when its pods serve.
func asServing(children []resources.Child) (*appsv1.Deployment, error) {
	for _, child := range children {
		if child.Kind != workload.KindDeployment {
			continue
		}
		object, err := asObject(child)
		if err != nil {
			return nil, err
		}
		deployment := object.(*appsv1.Deployment)
		n := *deployment.Spec.Replicas
		deployment.Status = appsv1.DeploymentStatus{
			Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: "True"}},
		}
		return deployment, nil
	}
	return nil, errUnknownKind(workload.KindDeployment)
}
