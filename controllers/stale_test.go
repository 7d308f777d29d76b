// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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
