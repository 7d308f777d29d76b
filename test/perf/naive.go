// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"platformapp/internal/resources"
	"platformapp/internal/status"
	"platformapp/internal/workload"
)

// naive is the reconciler of the textbook: at each event it updates every child and the status, one application at a
// time. It is here to be compared with.
type naive struct {
	client.Client
	subject subject
}

// runNaive runs it while work is done.
func runNaive(ctx context.Context, p *plane, s subject, work func() error) error {
	mgr, err := ctrl.NewManager(p.config, ctrl.Options{Scheme: p.scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	builder := ctrl.NewControllerManagedBy(mgr).For(s.make("", "")).Owns(&appsv1.Deployment{}).
		// Another round runs one of the same name.
		WithOptions(controller.Options{SkipNameValidation: new(true)})
	if s.children > 1 {
		builder = builder.Owns(&corev1.Service{})
	}
	if err := builder.Complete(&naive{mgr.GetClient(), s}); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	if mgr.GetCache().WaitForCacheSync(ctx) {
		err = work()
	}
	stop()
	return errors.Join(err, <-ended)
}

// Reconcile updates everything of one application.
func (n *naive) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	app := n.subject.make("", "")
	if err := n.Get(ctx, request.NamespacedName, app); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	w, err := n.subject.workload(app)
	if err != nil {
		return reconcile.Result{}, err
	}
	in := status.Input{Workload: w, Now: metav1.Now(), PreviousStatus: *app.AppStatus()}
	in.Observed.Children = map[string]workload.Object{}
	for _, child := range resources.Desired(w, workload.Observed{}) {
		live, err := n.write(ctx, child)
		if err != nil {
			return reconcile.Result{}, err
		}
		in.Observed.Children[child.Kind] = live
	}
	result := status.Compute(in)
	for i := range result.Status.Conditions {
		result.Status.Conditions[i].LastTransitionTime = app.GetCreationTimestamp()
	}
	*app.AppStatus() = result.Status
	if details := app.AppDetails(); details != nil {
		*details = result.Details
	}
	return reconcile.Result{}, n.Status().Update(ctx, app)
}

// write creates a child, or updates it, whatever it is like.
func (n *naive) write(ctx context.Context, child resources.Child) (client.Object, error) {
	object, err := asObject(child)
	if err != nil {
		return nil, err
	}
	live := object.DeepCopyObject().(client.Object)
	err = n.Get(ctx, client.ObjectKeyFromObject(object), live)
	if apierrors.IsNotFound(err) {
		return object, n.Create(ctx, object)
	}
	if err != nil {
		return nil, err
	}
	object.SetResourceVersion(live.GetResourceVersion())
	if deployment, ok := live.(*appsv1.Deployment); ok {
		object.(*appsv1.Deployment).Status = deployment.Status
	}
	return object, n.Update(ctx, object)
}

// runNaiveOn makes n applications and returns how long it took.
func runNaiveOn(ctx context.Context, p *plane, g *stage, n int) (time.Duration, error) {
	var took time.Duration
	err := runNaive(ctx, p, g.subject, func() error {
		start := time.Now()
		if err := g.createAll(ctx, n); err != nil {
			return err
		}
		err := g.awaitReady(n)
		took = time.Since(start)
		return err
	})
	return took, err
}

func errUnknownKind(kind string) error { return fmt.Errorf("there is no kind %s", kind) }
