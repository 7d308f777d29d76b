// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// application is an object of either kind.
type application interface {
	client.Object
	AppStatus() *appstatus.Status
}

// image is what the applications run: one that a real cluster can pull, too.
const image = "gcr.io/kuar-demo/kuard-amd64:1"

// newApplications returns one of each kind.
func newApplications(namespace string) []application {
	return []application{
		&v1alpha1.EGApp{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "orders"},
			Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, ReplicaCount: new(int32(2))},
		},
		&devopsv1.DemoMicroService{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "podinfo"},
			Spec:       devopsv1.DemoMicroServiceSpec{Image: image},
		},
	}
}

// createApplications creates one of each kind in each namespace.
func (s *scene) createApplications(namespaces ...string) []application {
	s.Helper()
	var apps []application
	for _, namespace := range namespaces {
		for _, app := range newApplications(namespace) {
			s.create(app)
			apps = append(apps, app)
		}
	}
	return apps
}

// ready waits until the applications are Ready, and reads them.
func (s *scene) ready(apps ...application) {
	s.Helper()
	for _, app := range apps {
		s.eventually(longWait, fmt.Sprintf("%T %s/%s is Ready", app, app.GetNamespace(), app.GetName()), func() error {
			if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(app), app); err != nil {
				return err
			}
			condition := meta.FindStatusCondition(app.AppStatus().Conditions, appstatus.ConditionReady)
			switch {
			case condition == nil:
				return errors.New("it has no condition")
			case condition.ObservedGeneration != app.GetGeneration():
				return errors.New("the condition is that of an older generation")
			case condition.Status != metav1.ConditionTrue:
				return fmt.Errorf("Ready=%s %s: %s", condition.Status, condition.Reason, condition.Message)
			}
			return nil
		})
	}
}

// expectUntouched fails when the operator has done something to one of the applications.
func (s *scene) expectUntouched(apps ...application) {
	s.Helper()
	for _, app := range apps {
		s.get(app)
		if status := app.AppStatus(); len(status.Conditions) > 0 || status.Phase != "" {
			s.Errorf("%T %s/%s has the status %s", app, app.GetNamespace(), app.GetName(), status.Phase)
		}
		if children := s.children(app.GetNamespace()); len(children) > 0 {
			s.Errorf("beside %T %s/%s there is %v", app, app.GetNamespace(), app.GetName(), children)
		}
	}
}

// state is what tells whether an object was written to, or replaced by another.
type state struct {
	uid, version string
	generation   int64
}

func stateOf(object client.Object) state {
	return state{string(object.GetUID()), object.GetResourceVersion(), object.GetGeneration()}
}

// children returns the states of everything that the operator has made in a namespace, and of what came of that: the
// ReplicaSets and the pods.
func (s *scene) children(namespace string) map[string]state {
	s.Helper()
	kinds := []client.Object{&appsv1.ReplicaSet{}, &corev1.Pod{}}
	for _, kind := range resources.Kinds {
		kinds = append(kinds, kind.New())
	}
	states := map[string]state{}
	for _, kind := range kinds {
		list, err := s.list(s.Context(), kind, client.InNamespace(namespace), client.MatchingLabels{workload.LabelManagedBy: workload.ManagedBy})
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			s.Fatal(err)
		}
		for i := range list.Items {
			item := &list.Items[i]
			states[item.GetKind()+" "+item.GetName()] = stateOf(item)
		}
	}
	return states
}

// list lists the objects of a kind.
func (s *suite) list(ctx context.Context, kind runtime.Object, options ...client.ListOption) (*unstructured.UnstructuredList, error) {
	gvk, err := apiutil.GVKForObject(kind, s.admin.Scheme())
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	return list, s.admin.List(ctx, list, options...)
}

// settled is how long nothing changes before all has come to rest: some applications count as available only after their
// pods have lived for 10 seconds.
const settled = 15 * time.Second

// atRest waits until nothing that the operator has made in a namespace has changed for a time, and returns it.
func (s *scene) atRest(namespace string, quiet time.Duration) map[string]state {
	s.Helper()
	var last map[string]state
	var changed time.Time
	s.eventually(longWait, "the children come to rest", func() error {
		if now := s.children(namespace); !maps.Equal(now, last) {
			last, changed = now, time.Now()
		}
		if rest := time.Since(changed); rest < quiet {
			return fmt.Errorf("the last change was %s ago", rest)
		}
		return nil
	})
	return last
}
