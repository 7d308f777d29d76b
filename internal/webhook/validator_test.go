// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/workload"
)

// unpullable passes the schema, and no runtime can pull it.
const unpullable = "registry.example.com/Team/App:1"

func valid() *v1alpha1.EGApp {
	return &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "orders"},
		Spec: v1alpha1.EGAppSpec{
			AppID: "app-1", Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev,
			Image: "registry.example.com/team/app:1", ReplicaCount: new(int32(2)),
		},
	}
}

func with(change func(*v1alpha1.EGApp)) *v1alpha1.EGApp {
	app := valid()
	change(app)
	return app
}

func nobody(context.Context, workload.Workload) []string { return nil }

func TestCreateIsRefusedByTheRulesOfTheLoopWithEachField(t *testing.T) {
	_, err := egapps(Options{}, nobody).ValidateCreate(t.Context(), with(func(app *v1alpha1.EGApp) {
		app.Spec.Image = unpullable
		app.Spec.Framework = "cobol"
	}))
	if !apierrors.IsInvalid(err) {
		t.Fatalf("the error is %v, want Invalid", err)
	}
	var fields []string
	for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	slices.Sort(fields)
	if diff := cmp.Diff([]string{"spec.framework", "spec.image"}, fields); diff != "" {
		t.Errorf("fields of %v:\n%s", err, diff)
	}
	for _, words := range []string{`"orders"`, "EGApp", "cobol", unpullable} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("the message does not say %s: %v", words, err)
		}
	}
}

func TestCreateOfADemoMicroServiceIsRefusedByTheRulesOfTheLoop(t *testing.T) {
	service := &devopsv1.DemoMicroService{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "podinfo"}}
	v := demoMicroServices(Options{}, nobody)
	for image, want := range map[string]bool{"stefanprodan/podinfo:0.0.1": true, unpullable: false, "": false} {
		service.Spec.Image = image
		_, err := v.ValidateCreate(t.Context(), service)
		if (err == nil) != want || (err != nil && !strings.Contains(err.Error(), "spec.image")) {
			t.Errorf("image %q gives %v", image, err)
		}
	}
}

func TestUpdateIsRefusedOnlyForANewSpecificationThatIsInvalid(t *testing.T) {
	invalid := with(func(app *v1alpha1.EGApp) { app.Spec.Image = unpullable })
	labelled := with(func(app *v1alpha1.EGApp) {
		app.Spec.Image = unpullable
		app.Labels = map[string]string{"team": "a"}
		app.Finalizers = []string{"example.com/wait"}
		app.Status.Phase = "Invalid"
	})
	deleted := with(func(app *v1alpha1.EGApp) {
		app.Spec.Image = unpullable + "2"
		app.DeletionTimestamp = new(metav1.Now())
	})
	otherwise := with(func(app *v1alpha1.EGApp) {
		app.Spec.Image = unpullable
		app.Spec.ReplicaCount = new(int32(0))
	})
	for _, test := range []struct {
		name          string
		before, after *v1alpha1.EGApp
		refused       bool
	}{
		{"valid to invalid", valid(), invalid, true},
		{"invalid to valid", invalid, valid(), false},
		{"invalid, and only metadata and status change", invalid, labelled, false},
		{"invalid, and invalid in another way", invalid, otherwise, true},
		{"invalid while it is being deleted", invalid, deleted, false},
		{"valid to valid", valid(), with(func(app *v1alpha1.EGApp) { app.Spec.ReplicaCount = new(int32(0)) }), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := egapps(Options{}, nobody).ValidateUpdate(t.Context(), test.before, test.after); (err != nil) != test.refused {
				t.Errorf("the update gives %v, want refused: %v", err, test.refused)
			}
		})
	}
}

func TestDeleteIsNeverRefused(t *testing.T) {
	invalid := with(func(app *v1alpha1.EGApp) { app.Spec.Image = unpullable })
	if warnings, err := egapps(Options{}, nobody).ValidateDelete(t.Context(), invalid); err != nil || len(warnings) > 0 {
		t.Errorf("the delete gives %v %v", warnings, err)
	}
}

// Beyond the operator's namespaces somebody else may see to the object, or nobody.
func TestWhatIsElsewherePassesAndIsNotLookedAt(t *testing.T) {
	look := func(context.Context, *v1alpha1.EGApp) (string, error) {
		t.Error("the cache is asked about another namespace")
		return "", nil
	}
	v := egapps(Options{Namespaces: []string{"team-b"}, Duplicate: look}, func(context.Context, workload.Workload) []string {
		t.Error("the API server is asked about another namespace")
		return nil
	})
	invalid := with(func(app *v1alpha1.EGApp) { app.Spec.Image = unpullable })
	if _, err := v.ValidateCreate(t.Context(), invalid); err != nil {
		t.Errorf("the create gives %v", err)
	}
	if _, err := v.ValidateCreate(t.Context(), valid()); err != nil {
		t.Errorf("the create gives %v", err)
	}
	if _, err := v.ValidateUpdate(t.Context(), valid(), invalid); err != nil {
		t.Errorf("the update gives %v", err)
	}
}

func TestWarningsAreThoseOfTheObjectTheIDAndTheNames(t *testing.T) {
	app := with(func(app *v1alpha1.EGApp) {
		app.Spec.Environment = v1alpha1.EnvironmentProd
		app.Spec.ReplicaCount = new(int32(1))
	})
	twin := func(context.Context, *v1alpha1.EGApp) (string, error) { return "EGApp orders-v1 has it", nil }
	taken := func(context.Context, workload.Workload) []string { return []string{"metadata.name: taken"} }
	v := egapps(Options{Duplicate: twin}, taken)
	created, err := v.ValidateCreate(t.Context(), app)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"spec.replicaCount", "spec.image", "spec.appId: EGApp orders-v1 has it", "metadata.name: taken"} {
		if !slices.ContainsFunc(created, func(warning string) bool { return strings.Contains(warning, words) }) {
			t.Errorf("no warning says %s: %q", words, created)
		}
	}
	updated, err := v.ValidateUpdate(t.Context(), valid(), app)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(created[:len(created)-1], updated); diff != "" {
		t.Errorf("an update warns of all but the name, which is the app's by now:\n%s", diff)
	}
	if unchanged, err := v.ValidateUpdate(t.Context(), app, app); err != nil || len(unchanged) > 0 {
		t.Errorf("an update that changes nothing gives %v %v", unchanged, err)
	}
}

func TestDuplicateIsNotLookedForWithoutAnIDAndItsErrorIsNoRefusal(t *testing.T) {
	fails := func(context.Context, *v1alpha1.EGApp) (string, error) {
		return "", errors.New("the cache is not filled")
	}
	if warnings, err := egapps(Options{Duplicate: fails}, nobody).ValidateCreate(t.Context(), valid()); err != nil || len(warnings) > 0 {
		t.Errorf("the create gives %v %v", warnings, err)
	}
	asked := false
	look := func(context.Context, *v1alpha1.EGApp) (string, error) { asked = true; return "", nil }
	if _, err := egapps(Options{Duplicate: look}, nobody).ValidateCreate(t.Context(), with(func(app *v1alpha1.EGApp) { app.Spec.AppID = "" })); err != nil || asked {
		t.Errorf("the create gives %v; asked: %v", err, asked)
	}
}
