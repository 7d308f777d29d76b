// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/egplatform/v1alpha1"
)

const (
	// large is the size of an EGApp that is as large as anybody's may be meant to be, huge that of one that the API server
	// still stores: etcd takes 1.5 MiB in a request.
	large = 256 << 10
	huge  = 1 << 20
	// largeApps are as many large EGApps as the operator has to bear beside a huge one.
	largeApps = 40
	// memoryLimit is the limit of the manager's container in config/manager.
	memoryLimit = 256 << 20
	// maxStatus and maxLog are how much may be told of all of them.
	maxStatus, maxLog = 32 << 10, 1 << 20
)

// S14. Large EGApps are carried out, and what is too large for one is refused with a cause, within the memory that the
// manager has, and without a word of them filling status or log.
func TestLargeApplicationsAreBorne(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	process, _ := s.start(nil, "--metrics-secure=false")
	for i := range largeApps {
		s.create(s.appOfSize(fmt.Sprintf("large-%d", i), large))
	}
	s.create(s.appOfSize("huge", huge))
	if err := s.admin.Create(t.Context(), s.appOfSize("too-large", 4<<20)); !apierrors.IsRequestEntityTooLargeError(err) && !apierrors.IsInvalid(err) &&
		!strings.Contains(fmt.Sprint(err), "too large") {
		t.Errorf("4 MiB are answered %.200v", err)
	}
	var apps v1alpha1.EGAppList
	s.eventually("every application is looked at", func(ctx context.Context) error {
		if err := s.admin.List(ctx, &apps, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		for _, app := range apps.Items {
			if app.Status.ObservedGeneration != app.Generation {
				return fmt.Errorf("%s is not looked at", app.Name)
			}
		}
		return nil
	})
	if len(apps.Items) != largeApps+1 {
		t.Errorf("there are %d EGApps", len(apps.Items))
	}
	for _, app := range apps.Items {
		s.isCarriedOutOrRefused(&app)
	}

	// What was too large becomes what is not.
	app := s.appOfSize("huge", large)
	before := &v1alpha1.EGApp{}
	s.must(s.admin.Get(t.Context(), client.ObjectKeyFromObject(app), before))
	app.ResourceVersion = before.ResourceVersion
	s.must(s.admin.Update(t.Context(), app))
	s.eventually("the application that has shrunk is carried out", func(ctx context.Context) error {
		return s.admin.Get(ctx, client.ObjectKeyFromObject(app), &appsv1.Deployment{})
	})

	// The metrics are there a moment after the operator is ready.
	var resident float64
	s.eventually("the operator tells its memory", func(ctx context.Context) error {
		var err error
		if resident, err = process.Sum(ctx, "process_resident_memory_bytes", nil); err == nil && resident == 0 {
			err = fmt.Errorf("it tells none")
		}
		return err
	})
	t.Logf("%d applications of %d KiB take %.0f MiB", largeApps, large>>10, resident/(1<<20))
	if resident > memoryLimit {
		t.Errorf("the operator takes %.0f MiB of %d", resident/(1<<20), memoryLimit>>20)
	}
	if written := len(process.Log()); written > maxLog {
		t.Errorf("the log has %d bytes", written)
	}
}

// appOfSize returns an EGApp of about so many bytes, most of which are values of variables.
func (s *scene) appOfSize(name string, size int) *v1alpha1.EGApp {
	const variables = 200
	app := &v1alpha1.EGApp{
		ObjectMeta: s.in(name),
		Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, Image: "example.com/large:1"},
	}
	for i := range variables {
		app.Spec.Env = append(app.Spec.Env, v1alpha1.EnvVar{Name: fmt.Sprintf("V%d", i), Value: strings.Repeat("v", size/variables)})
	}
	return app
}

// isCarriedOutOrRefused fails unless an application has its Deployment, or a condition that says why not. Neither way the
// status grows with the application.
func (s *scene) isCarriedOutOrRefused(app *v1alpha1.EGApp) {
	s.Helper()
	err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(app), &appsv1.Deployment{})
	switch conditions := fmt.Sprint(app.Status.Conditions); {
	case err != nil && !strings.Contains(conditions, "Refused"):
		s.Errorf("%s has no Deployment (%v), and nothing says why: %s", app.Name, err, conditions)
	case err != nil && app.Name != "huge":
		s.Errorf("%s is refused: %s", app.Name, conditions)
	}
	if written := len(s.written(app.Status)); written > maxStatus {
		s.Errorf("the status of %s has %d bytes", app.Name, written)
	}
}
