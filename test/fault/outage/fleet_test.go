// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/test/fault"
)

// What runs, and what no runtime can pull: the repository has capital letters. KWOK pulls nothing.
const (
	image    = "registry.example.com/team/app:1"
	newImage = "registry.example.com/team/app:2"
	badImage = "registry.example.com/Team/App:1"
)

func newEGApp(namespace, name string, change ...func(*v1alpha1.EGAppSpec)) *v1alpha1.EGApp {
	app := &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.EGAppSpec{
			Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev, ReplicaCount: new(int32(1)), Image: image,
		},
	}
	for _, change := range change {
		change(&app.Spec)
	}
	return app
}

func newDemoMicroService(namespace, name, image string) *devopsv1.DemoMicroService {
	return &devopsv1.DemoMicroService{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: devopsv1.DemoMicroServiceSpec{Image: image},
	}
}

// everyChild asks for a child of each kind that every cluster has, but for an autoscaler, which tells every now and then
// that nothing measures the pods.
func everyChild(spec *v1alpha1.EGAppSpec) {
	spec.Environment = v1alpha1.EnvironmentProd
	spec.ReplicaCount = new(int32(2))
	spec.Expose = &v1alpha1.Expose{Type: v1alpha1.ExposeTypeIngress, Hosts: []string{"app.example.com"}}
	spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationNamespace}
}

// member is an application of a fleet: what it reports at first, and after the changes.
type member struct {
	app         application
	first, last string
	// before is its change right before the outage, after its change right after it; they may be nil.
	before, after func(*scene, application) error
}

// gone is what a deleted application reports.
const gone = "gone"

// isLate tells whether the application is created by its first change.
func (m member) isLate() bool { return m.first == "" }

// newFleet returns applications of both kinds in all sorts of states, and what happens to them around an outage. None of them
// gets two changes that could be seen as one.
func newFleet(namespace string) []member {
	create := func(s *scene, app application) error { return s.admin.Create(s.Context(), app) }
	remove := func(s *scene, app application) error {
		return s.admin.Delete(s.Context(), app, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	egapp := func(change func(*v1alpha1.EGAppSpec)) func(*scene, application) error {
		return func(s *scene, app application) error {
			return s.tryEdit(app, func() { change(&app.(*v1alpha1.EGApp).Spec) })
		}
	}
	service := func(image string) func(*scene, application) error {
		return func(s *scene, app application) error {
			return s.tryEdit(app, func() { app.(*devopsv1.DemoMicroService).Spec.Image = image })
		}
	}
	setImage := func(image string) func(*v1alpha1.EGAppSpec) {
		return func(spec *v1alpha1.EGAppSpec) { spec.Image = image }
	}
	withID := func(spec *v1alpha1.EGAppSpec) { spec.AppID = "app-00123" }
	const (
		ready, invalid  = appstatus.ReasonReady, appstatus.ReasonInvalidSpec
		stopped, paused = appstatus.ReasonStopped, appstatus.ReasonPaused
	)
	return []member{
		{app: newEGApp(namespace, "steady", withID), first: ready, last: ready},
		{app: newEGApp(namespace, "full", everyChild), first: ready, last: ready},
		{app: newEGApp(namespace, "idle", func(spec *v1alpha1.EGAppSpec) { spec.ReplicaCount = new(int32(0)) }), first: stopped, last: stopped},
		{app: newEGApp(namespace, "paused", func(spec *v1alpha1.EGAppSpec) { spec.Paused = true }), first: paused, last: paused},
		{app: newEGApp(namespace, "invalid", setImage(badImage)), first: invalid, last: invalid},
		{app: newEGApp(namespace, "refused", func(spec *v1alpha1.EGAppSpec) {
			spec.PodTemplatePatch = &runtime.RawExtension{Raw: []byte(`{"spec":{"runtimeClassName":"nope"}}`)}
		}), first: appstatus.ReasonPodRefused, last: appstatus.ReasonPodRefused},
		{app: newEGApp(namespace, "renewed"), first: ready, last: ready, before: egapp(setImage(newImage))},
		{app: newEGApp(namespace, "shrunk", everyChild), first: ready, last: ready, before: egapp(func(spec *v1alpha1.EGAppSpec) {
			spec.Expose, spec.NetworkPolicy = nil, nil
		})},
		{app: newEGApp(namespace, "broken"), first: ready, last: invalid, before: egapp(setImage(badImage))},
		{app: newEGApp(namespace, "removed", everyChild), first: ready, last: gone, before: remove},
		{app: newEGApp(namespace, "late"), last: ready, before: create},
		{app: newEGApp(namespace, "grown"), first: ready, last: ready, after: egapp(everyChild)},
		{app: newEGApp(namespace, "mended", setImage(badImage)), first: invalid, last: ready, after: egapp(setImage(image))},
		{app: newEGApp(namespace, "twin", withID), first: appstatus.ReasonDuplicateAppID, last: appstatus.ReasonDuplicateAppID},
		{app: newDemoMicroService(namespace, "ms-steady", image), first: ready, last: ready},
		{app: newDemoMicroService(namespace, "ms-invalid", badImage), first: invalid, last: invalid},
		{app: newDemoMicroService(namespace, "ms-renewed", image), first: ready, last: ready, before: service(newImage)},
		{app: newDemoMicroService(namespace, "ms-removed", image), first: ready, last: gone, before: remove},
		{app: newDemoMicroService(namespace, "ms-late", image), last: ready, before: create},
		{app: newDemoMicroService(namespace, "ms-mended", badImage), first: invalid, last: ready, after: service(image)},
		{app: newDemoMicroService(namespace, "ms-changed", image), first: ready, last: ready, after: service(newImage)},
	}
}

// launch creates the applications of a fleet that are there from the start and waits until each reports what it should.
func (s *scene) launch(fleet []member) {
	s.Helper()
	for i, m := range fleet {
		if m.isLate() {
			continue
		}
		if m.first == appstatus.ReasonDuplicateAppID {
			// Who is the newcomer is told by seconds.
			s.awaitReports(fleet[0].app, fleet[0].first)
			s.eventually(patience, "the next second", func(context.Context) error {
				if now := metav1.Now().Rfc3339Copy(); !fleet[0].app.GetCreationTimestamp().Time.Before(now.Time) {
					return errors.New("it is the same")
				}
				return nil
			})
		}
		s.create(fleet[i].app)
	}
	for _, m := range fleet {
		if !m.isLate() {
			s.awaitReports(m.app, m.first)
		}
	}
}

// changeBefore makes the changes that come right before the outage.
func (s *scene) changeBefore(fleet []member) {
	s.Helper()
	for _, m := range fleet {
		if m.before != nil {
			s.must(m.before(s, m.app))
		}
	}
}

// insist makes the changes that come right before the outage while the control plane comes and goes, each again and again
// until it is made.
func (s *scene) insist(fleet []member) {
	for _, m := range fleet {
		if m.before == nil {
			continue
		}
		for deadline := time.Now().Add(patience); ; {
			err := m.before(s, m.app)
			if err == nil || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
				break
			}
			if time.Now().After(deadline) {
				s.Errorf("change %T %s: %v", m.app, m.app.GetName(), err)
				return
			}
			time.Sleep(pollInterval)
		}
	}
}

// changeAfter makes the changes that come right after the outage.
func (s *scene) changeAfter(fleet []member) {
	s.Helper()
	for _, m := range fleet {
		if m.after != nil {
			s.must(m.after(s, m.app))
		}
	}
}

// reportLast fails unless each application reports what it should in the end.
func (s *scene) reportLast(ctx context.Context, fleet []member) error {
	for _, m := range fleet {
		if m.last == gone {
			if s.uidOf(m.app) != "" {
				return fmt.Errorf("%T %s is still there", m.app, m.app.GetName())
			}
			continue
		}
		if err := s.reports(ctx, m.app, m.last); err != nil {
			return err
		}
	}
	return nil
}

// areCollected fails while there is a child of an application that is gone in the end. The garbage collector has its own time
// for that: it learns of a kind that is new to the cluster half a minute later.
func (s *scene) areCollected(ctx context.Context, fleet []member) error {
	for _, m := range fleet {
		if m.last != gone {
			continue
		}
		view, err := fault.List(ctx, s.objects, m.app.GetNamespace())
		if err != nil {
			return err
		}
		var left []string
		eachChildOf(view, m.app.GetName(), func(name string, _ *unstructured.Unstructured) { left = append(left, name) })
		if len(left) > 0 {
			return fmt.Errorf("%T %s has left %v behind", m.app, m.app.GetName(), left)
		}
	}
	return nil
}
