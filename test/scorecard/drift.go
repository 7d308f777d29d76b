// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// driftImage is what somebody lets a Deployment run. The top-level domain does not exist, so that it never runs.
const driftImage = "registry.invalid/platformapp/drift:1"

// driftIsRepaired changes and deletes the children of an application of each kind.
func driftIsRepaired(ctx context.Context, t *trial) error {
	app, service, err := t.oneOfEach(ctx)
	if err != nil {
		return err
	}
	const scaledTo = 3
	err = errors.Join(
		t.changeIsTakenBack(ctx, app, "spec.replicas",
			func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(scaledTo)) },
			func(d *appsv1.Deployment) string { return fmt.Sprint(ptr.Deref(d.Spec.Replicas, 1)) }),
		t.changeIsTakenBack(ctx, service, "the image",
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = driftImage },
			func(d *appsv1.Deployment) string { return d.Spec.Template.Spec.Containers[0].Image }),
		t.comesBack(ctx, app, &corev1.Service{}),
		t.comesBack(ctx, service, &appsv1.Deployment{}),
	)
	if err != nil {
		return err
	}
	return errors.Join(t.becomesReady(ctx, app), t.becomesReady(ctx, service))
}

// changeIsTakenBack changes a field of the application's Deployment, and waits until it has its former value.
func (t *trial) changeIsTakenBack(ctx context.Context, app application, field string, change func(*appsv1.Deployment), value func(*appsv1.Deployment) string) error {
	deployment := &appsv1.Deployment{}
	if err := t.Get(ctx, client.ObjectKeyFromObject(app), deployment); err != nil {
		return fmt.Errorf("get the Deployment of %s: %w", t.title(app), err)
	}
	want, before := value(deployment), deployment.DeepCopy()
	change(deployment)
	changed := value(deployment)
	// Not an update: the status of the Deployment may have changed since.
	if err := t.Patch(ctx, deployment, client.StrategicMergeFrom(before)); err != nil {
		return fmt.Errorf("change %s of %s: %w", field, t.title(deployment), err)
	}
	if got := value(deployment); got != changed || got == want {
		return fmt.Errorf("%s of %s was set to %s and is %s at once: something else than the operator keeps it", field, t.title(deployment), changed, got)
	}
	what := fmt.Sprintf("%s of %s, set to %s, is %s again", field, t.title(deployment), changed, want)
	return t.eventually(ctx, repairTimeout, what, func(ctx context.Context) error {
		if err := t.Get(ctx, client.ObjectKeyFromObject(app), deployment); err != nil {
			return err
		}
		if got := value(deployment); got != want {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})
}

// comesBack deletes the child of that kind and waits until the application has another.
func (t *trial) comesBack(ctx context.Context, app application, child client.Object) error {
	key := client.ObjectKeyFromObject(app)
	if err := t.Get(ctx, key, child); err != nil {
		return fmt.Errorf("get the %s of %s: %w", t.kind(child), t.title(app), err)
	}
	deleted := child.GetUID()
	if err := t.Delete(ctx, child, client.Preconditions{UID: &deleted}, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		return fmt.Errorf("delete %s: %w", t.title(child), err)
	}
	return t.eventually(ctx, repairTimeout, t.title(child)+", deleted, is back", func(ctx context.Context) error {
		if err := t.Get(ctx, key, child); err != nil {
			return err
		}
		return isAnother(child, deleted, app)
	})
}

// isAnother fails unless the child is the application's and not the deleted one.
func isAnother(child client.Object, deleted types.UID, app application) error {
	switch {
	case child.GetUID() == deleted:
		return errors.New("it is still the deleted one")
	case !metav1.IsControlledBy(child, app):
		return errors.New("it is not the application's")
	}
	return nil
}
