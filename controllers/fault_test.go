// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
)

// errStopped is the end of the operator's process, as the loop sees it.
var errStopped = errors.New("the operator was stopped")

// faultyClient fails the write of a given number, before it reaches the API server or
// after the API server has carried it out.
type faultyClient struct {
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

// around puts the faults between the loop and its client.
func around(f *faultyClient) func(client.Client) client.Client {
	return func(c client.Client) client.Client {
		return interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{
			Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				return f.write(func() error { return c.Apply(ctx, object, opts...) })
			},
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
				return f.write(func() error { return c.Patch(ctx, object, patch, opts...) })
			},
			Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
				return f.write(func() error { return c.Delete(ctx, object, opts...) })
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, subResource string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				return f.write(func() error { return c.SubResource(subResource).Patch(ctx, object, patch, opts...) })
			},
		})
	}
}

// story is the life of an application, step by step: each step changes something, then
// the operator is given its turns.
func story(app *v1alpha1.EGApp) []func(*loop) {
	return []func(*loop){
		func(l *loop) { l.create(app) },
		func(l *loop) { l.rollOut(app.Name) },
		func(l *loop) { l.change(app, func() { app.Spec.Image = "registry.example.com/orders:2" }) },
		func(l *loop) { l.rollOut(app.Name) },
		func(l *loop) {
			l.change(app, func() {
				app.Spec.Framework, app.Spec.Environment = v1alpha1.FrameworkJava, v1alpha1.EnvironmentProd
				app.Spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
				app.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 10, TargetCPUUtilizationPercentage: new(int32(70))}
				app.Spec.Expose = &v1alpha1.Expose{Hosts: []string{"orders.example.com"}}
				app.Spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationNamespace}
			})
		},
		func(l *loop) { l.must(l.user.Delete(l.ctx, l.service(app.Name))) },
		func(l *loop) { l.scale(app.Name, 7); l.rollOut(app.Name) },
		func(l *loop) { l.change(app, func() { app.Spec.Autoscaling, app.Spec.Expose = nil, nil }) },
		func(l *loop) {
			l.change(app, func() {
				app.Spec.ReplicaCount, app.Spec.EnvFrom = new(int32(4)), nil
				app.Spec.Service = &v1alpha1.Service{Type: v1alpha1.ServiceTypeHeadless}
			})
		},
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
	status := app.Status.DeepCopy()
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	state := []any{status}
	for _, kind := range resources.Kinds {
		object := kind.New().(client.Object)
		object.SetName(app.Name + kind.Suffix)
		if kind.Optional || !l.exists(object) {
			continue
		}
		switch object := object.(type) {
		case *appsv1.Deployment:
			object.Status.ObservedGeneration = 0
		case *corev1.Service:
			if object.Spec.ClusterIP != corev1.ClusterIPNone {
				object.Spec.ClusterIP, object.Spec.ClusterIPs = "", nil
			}
		}
		object.SetUID("")
		object.SetNamespace("")
		object.SetResourceVersion("")
		object.SetGeneration(0)
		object.SetCreationTimestamp(metav1.Time{})
		object.SetManagedFields(nil)
		object.SetOwnerReferences(nil)
		delete(object.GetLabels(), "platform.evillgenius.com/owner-uid")
		delete(object.GetAnnotations(), "platform.evillgenius.com/applied-hash")
		state = append(state, object)
	}
	out, err := yaml.Marshal(state)
	l.must(err)
	return string(out)
}

func TestTheOperatorConvergesWhereverItIsStopped(t *testing.T) {
	t.Parallel()
	counting := &faultyClient{}
	want := tell(newLoop(t, wrapped(around(counting))), ordersApp())
	if counting.writes < 25 {
		t.Fatalf("the story has only %d writes", counting.writes)
	}
	// To stop after a write is to stop before the next one.
	for at := 1; at <= counting.writes; at++ {
		t.Run(fmt.Sprintf("before write %d", at), func(t *testing.T) {
			t.Parallel()
			app, faulty := ordersApp(), &faultyClient{at: at, err: errStopped}
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
	t.Parallel()
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
					// Every step meets the fault at its first write, which may be one that waits.
					faulty.at = faulty.writes + 1
					for range 2 {
						_, _ = l.turn(app)
						if faulty.writes >= faulty.at {
							break
						}
						l.clock.Step(time.Second)
					}
					if faulty.writes < faulty.at {
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
