// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
)

// errStopped is the end of the operator's process, as the loop sees it.
var errStopped = errors.New("the operator was stopped")

// faultyClient fails the write of a given number, before it reaches the API server or
// after the API server has carried it out.
type faultyClient struct {
	client.Client
	// at is the number of the write to fail, from 1.
	at int
	// after fails the write when it has been carried out.
	after bool
	err   error

	// before, when set, is called with the number of each write before it.
	before func(write int)

	writes  int
	stopped bool
}

func (f *faultyClient) write(do func() error) error {
	if f.stopped {
		return errStopped
	}
	f.writes++
	if f.before != nil {
		f.before(f.writes)
	}
	if f.writes != f.at {
		return do()
	}
	f.stopped = errors.Is(f.err, errStopped)
	if f.after {
		if err := do(); err != nil {
			return err
		}
	}
	return f.err
}

func (f *faultyClient) Apply(ctx context.Context, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return f.write(func() error { return f.Client.Apply(ctx, object, opts...) })
}

func (f *faultyClient) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return f.write(func() error { return f.Client.Patch(ctx, object, patch, opts...) })
}

func (f *faultyClient) Delete(ctx context.Context, object client.Object, opts ...client.DeleteOption) error {
	return f.write(func() error { return f.Client.Delete(ctx, object, opts...) })
}

func (f *faultyClient) Status() client.SubResourceWriter {
	return faultyStatus{f.Client.Status(), f}
}

type faultyStatus struct {
	client.SubResourceWriter
	client *faultyClient
}

func (s faultyStatus) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.client.write(func() error { return s.SubResourceWriter.Patch(ctx, object, patch, opts...) })
}

// story is the life of an application, step by step: each step changes something, then
// the operator is given its turns.
func story(app *v1alpha1.EGApp) []func(*loop) {
	return []func(*loop){
		func(l *loop) { l.create(app) },
		func(l *loop) { l.rollOut(app.Name) },
		func(l *loop) { l.change(app, func() { app.Spec.Image = "registry.example.com/orders:2" }) },
		func(l *loop) { l.rollOut(app.Name) },
		func(l *loop) { l.change(app, func() { app.Spec.Framework = v1alpha1.FrameworkJava }) },
		func(l *loop) { l.must(l.user.Delete(l.ctx, l.service(app.Name))) },
		func(l *loop) { l.rollOut(app.Name) },
	}
}

// tell tells the story to an operator and returns the state that it ends in.
func tell(l *loop, app *v1alpha1.EGApp) string {
	l.Helper()
	for _, step := range story(app) {
		step(l)
		l.reconcile(app)
	}
	return l.endState(app)
}

// endState is everything that the story leaves behind, but for what differs from run to
// run: names that the API server makes up, versions and times.
func (l *loop) endState(app *v1alpha1.EGApp) string {
	l.Helper()
	l.read(app)
	deployment, service := l.deployment(app.Name), l.service(app.Name)
	deployment.Generation, deployment.Status.ObservedGeneration = 0, 0
	service.Spec.ClusterIP, service.Spec.ClusterIPs = "", nil
	status := app.Status.DeepCopy()
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	for _, object := range []client.Object{deployment, service} {
		object.SetUID("")
		object.SetNamespace("")
		object.SetResourceVersion("")
		object.SetCreationTimestamp(metav1.Time{})
		object.SetManagedFields(nil)
		object.SetOwnerReferences(nil)
		delete(object.GetLabels(), "platform.evillgenius.com/owner-uid")
		delete(object.GetAnnotations(), "platform.evillgenius.com/applied-hash")
	}
	state, err := yaml.Marshal([]any{deployment, service, status})
	l.must(err)
	return string(state)
}

func TestTheOperatorConvergesWhereverItIsStopped(t *testing.T) {
	counting := &faultyClient{}
	want := tell(newLoop(t, wrapped(around(counting))), ordersApp())
	if counting.writes < 10 {
		t.Fatalf("the story has only %d writes", counting.writes)
	}
	for at := 1; at <= counting.writes; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, after it: %t", at, after), func(t *testing.T) {
				t.Parallel()
				app, faulty := ordersApp(), &faultyClient{at: at, after: after, err: errStopped}
				l := newLoop(t, wrapped(around(faulty)))
				for _, step := range story(app) {
					step(l)
					if !faulty.stopped && l.turnsUntilStopped(app, faulty) {
						l = l.restarted()
					}
					l.reconcile(app)
				}
				if !faulty.stopped {
					t.Fatal("the operator was never stopped")
				}
				if diff := cmp.Diff(want, l.endState(app)); diff != "" {
					t.Errorf("it does not end where a run without a stop ends (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// turnsUntilStopped gives the operator its turns and tells whether it was stopped.
func (l *loop) turnsUntilStopped(app client.Object, faulty *faultyClient) bool {
	l.Helper()
	for range 10 {
		before := faulty.writes
		result, err := l.turn(app)
		if faulty.stopped {
			return true
		}
		l.must(err)
		l.clock.Step(result.RequeueAfter)
		if faulty.writes == before && result.RequeueAfter == 0 {
			return false
		}
	}
	return false
}

func TestTheOperatorConvergesWhateverFails(t *testing.T) {
	want := tell(newLoop(t), ordersApp())
	resource := schema.GroupResource{Group: "apps", Resource: "deployments"}
	faults := map[string]error{
		"conflict":          apierrors.NewConflict(resource, "orders", errors.New("the object has been modified")),
		"already exists":    apierrors.NewAlreadyExists(resource, "orders"),
		"too many requests": apierrors.NewTooManyRequests("try again", 1),
		"internal error":    apierrors.NewInternalError(errors.New("no leader")),
		"unavailable":       apierrors.NewServiceUnavailable("starting"),
		"timeout":           apierrors.NewTimeoutError("slow", 1),
		"forbidden":         apierrors.NewForbidden(resource, "orders", errors.New(`User "x" cannot patch resource "deployments"`)),
		"invalid":           apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "orders", nil),
		"connection lost":   errors.New("read: connection reset by peer"),
		"context ended":     context.DeadlineExceeded,
		"no content":        &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusBadGateway}},
	}
	for name, fault := range faults {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, after the write: %t", name, after), func(t *testing.T) {
				t.Parallel()
				app := ordersApp()
				faulty := &faultyClient{after: after, err: fault}
				l := newLoop(t, wrapped(around(faulty)))
				for i, step := range story(app) {
					step(l)
					// Every step meets the fault at its first write.
					faulty.at = faulty.writes + 1
					if _, err := l.turn(app); err == nil && faulty.writes < faulty.at {
						t.Errorf("step %d writes nothing", i)
					}
					l.reconcile(app)
				}
				if diff := cmp.Diff(want, l.endState(app)); diff != "" {
					t.Errorf("it does not end where a run without a fault ends (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func around(faulty *faultyClient) func(client.Client) client.Client {
	return func(c client.Client) client.Client {
		faulty.Client = c
		return faulty
	}
}
