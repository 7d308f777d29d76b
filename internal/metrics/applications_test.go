// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

// fleet is a cache that holds these applications.
type fleet struct {
	client.Reader
	egapps   []v1alpha1.EGApp
	services []devopsv1.DemoMicroService
	err      error
}

func (f fleet) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *v1alpha1.EGAppList:
		list.Items = f.egapps
	case *devopsv1.DemoMicroServiceList:
		list.Items = f.services
	}
	return f.err
}

func egapp(environment v1alpha1.Environment, framework v1alpha1.Framework, phase appstatus.Phase) v1alpha1.EGApp {
	app := v1alpha1.EGApp{Spec: v1alpha1.EGAppSpec{Environment: environment, Framework: framework}}
	app.Status.Phase = phase
	return app
}

// leading is closed: this operator leads.
func leading() <-chan struct{} {
	leads := make(chan struct{})
	close(leads)
	return leads
}

func TestApplicationsAreCountedByWhatTheyAreAndTheirPhase(t *testing.T) {
	f := fleet{
		egapps: []v1alpha1.EGApp{
			egapp("prod", "java", appstatus.PhaseRunning), egapp("prod", "java", appstatus.PhaseRunning),
			egapp("prod", "java", appstatus.PhaseDegraded), egapp("dev", "go", ""),
			// Older than the schema.
			egapp("qa-1", "cobol", appstatus.PhaseInvalid), egapp("qa-2", "pascal", appstatus.PhaseInvalid),
		},
		services: []devopsv1.DemoMicroService{{}},
	}
	got := gather(t, newApplications(f, leading()))
	want := map[string]float64{
		`platformapp_applications{environment="prod",framework="java",kind="EGApp",phase="Running"}`:    2,
		`platformapp_applications{environment="prod",framework="java",kind="EGApp",phase="Degraded"}`:   1,
		`platformapp_applications{environment="dev",framework="go",kind="EGApp",phase="Unknown"}`:       1,
		`platformapp_applications{environment="other",framework="other",kind="EGApp",phase="Invalid"}`:  2,
		`platformapp_applications{environment="",framework="",kind="DemoMicroService",phase="Unknown"}`: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestApplicationsAreNotCountedByAStandbyNorFromACacheThatIsNotFilled(t *testing.T) {
	full := fleet{egapps: []v1alpha1.EGApp{egapp("prod", "java", appstatus.PhaseRunning)}}
	if got := gather(t, newApplications(full, make(chan struct{}))); len(got) > 0 {
		t.Errorf("a standby counts %v", got)
	}
	full.err = errors.New("the cache is not started")
	if got := gather(t, newApplications(full, leading())); len(got) > 0 {
		t.Errorf("without a cache it counts %v", got)
	}
}
