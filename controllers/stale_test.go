// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
)

// staleClient shows an EGApp as it was, while it has one: the watch of EGApps lags behind all others.
type staleClient struct{ app *v1alpha1.EGApp }

func (s *staleClient) around(c client.Client) client.Client {
	return interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			if app, ok := object.(*v1alpha1.EGApp); ok && s.app != nil {
				s.app.DeepCopyInto(app)
				return nil
			}
			return c.Get(ctx, key, object, opts...)
		},
	})
}

// Garbage collection removes the children of an EGApp that was deleted. An operator that has yet to see that must not make
// them again: they would be collected again, and so on, with all their pods.
func TestChildrenOfAnEGAppThatIsGoneAreNotMadeAgain(t *testing.T) {
	t.Parallel()
	for name, isRecreated := range map[string]bool{"deleted": false, "deleted and created under its name": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stale := &staleClient{}
			l := newLoop(t, wrapped(stale.around))
			app := ordersApp()
			l.create(app)
			l.reconcile(app)
			l.rollOut(app.Name)
			l.reconcile(app)
			past := app.DeepCopy()

			l.must(l.user.Delete(l.ctx, app))
			l.must(l.user.Delete(l.ctx, l.deployment(app.Name)))
			l.must(l.user.Delete(l.ctx, l.service(app.Name)))
			if app = ordersApp(); isRecreated {
				l.create(app)
			}
			stale.app = past
			before := l.requests.writes()
			if _, err := l.turn(past); err != nil {
				t.Error(err)
			}
			if n := l.requests.writes() - before; n != 0 {
				t.Errorf("%d writes for an EGApp that is gone: %v", n, l.requests.list())
			}
			stale.app = nil
			if !isRecreated {
				return
			}
			l.reconcile(app)
			if deployment := l.deployment(app.Name); deployment.OwnerReferences[0].UID != app.UID {
				t.Errorf("the Deployment is owned by %s, want %s", deployment.OwnerReferences[0].UID, app.UID)
			}
		})
	}
}

// An EGApp that is deleted with --cascade=orphan leaves what runs to the user. Garbage collection takes the owner references
// away first. An operator that has yet to see the deletion must not put them back: what carries one is removed with the EGApp.
func TestWhatAnEGAppLeavesBehindIsNotTakenBack(t *testing.T) {
	t.Parallel()
	stale := &staleClient{}
	l := newLoop(t, wrapped(stale.around))
	app := ordersApp()
	l.running(app)
	stale.app = app.DeepCopy()

	l.must(l.user.Delete(l.ctx, app, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	deployment, service := l.deployment(app.Name), l.service(app.Name)
	l.change(deployment, func() { deployment.OwnerReferences = nil })
	l.change(service, func() { service.OwnerReferences = nil })
	before := l.requests.writes()
	for range 2 {
		if result, err := l.turn(app); err != nil || result.RequeueAfter != 0 {
			t.Errorf("the turn ends with %v, %v; its end is an event", result, err)
		}
	}
	if n := l.requests.writes() - before; n != 0 {
		t.Errorf("%d writes for an EGApp that is being deleted: %v", n, l.requests.list())
	}
	for _, child := range []metav1.Object{l.deployment(app.Name), l.service(app.Name)} {
		if owners := child.GetOwnerReferences(); len(owners) > 0 {
			t.Errorf("%T is owned again, and would be removed with the EGApp: %v", child, owners)
		}
	}
}

// An operator that takes over may see an EGApp as it was before the last change, and its children as they are: each kind has a
// watch of its own. What runs must not go back to what was asked for then.
func TestAnOperatorThatTakesOverRollsNothingBack(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*v1alpha1.EGApp){
		"an update": func(app *v1alpha1.EGApp) { app.Spec.Image = "registry.example.com/orders:2" },
		"a child more": func(app *v1alpha1.EGApp) {
			set(t, app, `autoscaling: {minReplicas: 2, maxReplicas: 10, targetCPUUtilizationPercentage: 70}`)
		},
		"a child replaced": func(app *v1alpha1.EGApp) { set(t, app, `service: {type: Headless}`) },
		"a child less":     func(app *v1alpha1.EGApp) { set(t, app, `service: {type: None}`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLoop(t)
			app := ordersApp()
			l.running(app)
			stale := &staleClient{app: app.DeepCopy()}
			l.change(app, func() { change(app) })
			l.reconcile(app)
			l.rollOut(app.Name)
			l.reconcile(app)
			want := l.children(app)

			second := l.restarted(wrapped(stale.around))
			for range 2 {
				if _, err := second.turn(app); err != nil {
					t.Error(err)
				}
			}
			stale.app = nil
			second.reconcile(app)
			if n := second.requests.writes(); n != 0 {
				t.Errorf("%d writes by an operator that takes over: %v", n, second.requests.list())
			}
			if diff := cmp.Diff(want, l.children(app)); diff != "" {
				t.Errorf("the children are not what they were (-want +got):\n%s", diff)
			}
		})
	}
}

// failing puts an error, while there is one, in the place of each EGApp that is asked for.
func failing(fault *error) func(client.Client) client.Client {
	return func(c client.Client) client.Client {
		return interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
				if _, ok := object.(*v1alpha1.EGApp); ok && *fault != nil {
					return *fault
				}
				return c.Get(ctx, key, object, opts...)
			},
		})
	}
}

// An EGApp that cannot be asked for is not acted on, and what is wrong is told as it is for the children: who lacks a right
// waits for a person.
func TestAnEGAppThatCannotBeAskedForIsLeftAlone(t *testing.T) {
	t.Parallel()
	egapps := schema.GroupResource{Group: "egplatform.platform.evillgenius.com", Resource: "egapps"}
	for name, test := range map[string]struct {
		err     error
		reason  string
		wait    time.Duration
		retried bool
	}{
		"a right is missing": {
			apierrors.NewForbidden(egapps, "orders", errors.New(`User "operator" cannot get resource "egapps"`)),
			appstatus.ReasonForbidden, time.Minute, false,
		},
		"the API server fails": {apierrors.NewInternalError(errors.New("no leader")), appstatus.ReasonApplyFailed, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fault error
			l := newLoop(t, wrappedLive(failing(&fault)))
			app := ordersApp()
			l.running(app)
			fault = test.err
			l.must(l.user.Delete(l.ctx, l.service(app.Name)))
			for range 2 {
				if result, err := l.turn(app); (err != nil) != test.retried || result.RequeueAfter != test.wait {
					t.Errorf("the turn ends with %v, %v; want the next after %s, an error: %t", result, err, test.wait, test.retried)
				}
			}
			l.read(app)
			if reasonOf(app) != test.reason || !strings.Contains(messageOf(app), test.err.Error()) {
				t.Errorf("Ready is %s: %s", reasonOf(app), messageOf(app))
			}
			if got := l.childrenOf(app); len(got) != 1 {
				t.Errorf("the Service was made: %v", got)
			}
			fault = nil
			l.reconcile(app)
			if reasonOf(app) != appstatus.ReasonReady || len(l.childrenOf(app)) != 2 {
				t.Errorf("afterwards Ready is %s: %s", reasonOf(app), messageOf(app))
			}
		})
	}
}

// A child that somebody deletes is made again though: the EGApp is still there.
func TestAChildThatIsDeletedComesBackAtOnce(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.create(app)
	l.reconcile(app)
	l.must(l.user.Delete(l.ctx, l.deployment(app.Name)))
	before := l.requests.writes()
	if _, err := l.turn(app); err != nil {
		t.Fatal(err)
	}
	if n := l.requests.writes() - before; n == 0 || !l.exists(&appsv1.Deployment{ObjectMeta: l.deployment(app.Name).ObjectMeta}) {
		t.Errorf("the Deployment is not back after one turn and %d writes", n)
	}
}
