// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
)

// changed makes applications ask for the image of a release.
func (s *scene) changed(apps []application, release int) {
	s.Helper()
	for _, app := range apps {
		before, _ := app.DeepCopyObject().(client.Object)
		setImage(app, imageOf(release))
		if err := s.admin.Patch(s.Context(), app, client.MergeFrom(before)); err != nil {
			s.Fatal(err)
		}
	}
}

// carriedOut waits until all applications are carried out.
func (s *scene) carriedOut(apps ...application) {
	s.Helper()
	for _, app := range apps {
		s.eventually(fmt.Sprintf("%s %s is carried out", s.kind.name, app.GetName()), func(ctx context.Context) error {
			return s.isCarriedOut(ctx, app)
		})
	}
}

// isCarriedOut fails unless an application's Deployment is as it is asked for and its status is that of its present
// generation. Its pods may be on their way.
func (s *scene) isCarriedOut(ctx context.Context, app application) error {
	if err := s.admin.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
		return err
	}
	ready := meta.FindStatusCondition(app.AppStatus().Conditions, appstatus.ConditionReady)
	switch {
	case ready == nil:
		return errors.New("it has no condition")
	case ready.ObservedGeneration != app.GetGeneration():
		return fmt.Errorf("the condition is that of generation %d, want %d", ready.ObservedGeneration, app.GetGeneration())
	case meta.IsStatusConditionTrue(app.AppStatus().Conditions, appstatus.ConditionStalled):
		return fmt.Errorf("it is stalled: %s: %s", ready.Reason, ready.Message)
	}
	deployment := &appsv1.Deployment{}
	if err := s.admin.Get(ctx, client.ObjectKeyFromObject(app), deployment); err != nil {
		return err
	}
	if image := deployment.Spec.Template.Spec.Containers[0].Image; imageIn(app) != "" && image != imageIn(app) {
		return fmt.Errorf("its Deployment runs %s, want %s", image, imageIn(app))
	}
	if !metav1.IsControlledBy(deployment, app) {
		return fmt.Errorf("its Deployment is controlled by %v", deployment.OwnerReferences)
	}
	return nil
}

// observed waits until the operator has looked at the present generation of applications, whatever it found.
func (s *scene) observed(apps ...application) {
	s.Helper()
	for _, app := range apps {
		s.eventually(fmt.Sprintf("%s %s is looked at", s.kind.name, app.GetName()), func(ctx context.Context) error {
			if err := s.admin.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
				return err
			}
			if got := app.AppStatus().ObservedGeneration; got != app.GetGeneration() {
				return fmt.Errorf("the observed generation is %d, want %d", got, app.GetGeneration())
			}
			return nil
		})
	}
}
