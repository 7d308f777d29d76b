// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"platformapp/internal/apply"
	"platformapp/internal/observe"
	"platformapp/internal/profile"
	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

const (
	// firstRetry and lastRetry bound the growing delay after an error. The bound is low
	// so that everything has converged half a minute after an outage, however long.
	firstRetry = 5 * time.Millisecond
	lastRetry  = 30 * time.Second
	// turnTimeout ends a turn of the loop that is blocked, so that it is tried again.
	// The shutdown waits less long for one.
	turnTimeout = time.Minute
)

// Options are the choices of whoever runs the operator.
type Options struct {
	// Images are the default images of the frameworks.
	Images profile.Images
	// MaxConcurrentReconciles is how many applications of a kind are worked on at once.
	MaxConcurrentReconciles int
}

// Check returns what makes the options of no use, or nil.
func (o Options) Check() error {
	if o.MaxConcurrentReconciles < 1 {
		return fmt.Errorf("--max-concurrent-reconciles must be at least 1, not %d", o.MaxConcurrentReconciles)
	}
	return translate.CheckDefaultImages(o.Images).ToAggregate()
}

// Dependencies are what the loop reads and writes by.
type Dependencies struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
	// Recorder takes the events.
	Recorder events.EventRecorder
	// Clock paces the status writes.
	Clock clock.PassiveClock
}

func newReconciler[T application](d Dependencies, kind string, newObject func() T, translate func(T) (workload.Workload, error)) *Reconciler[T] {
	fence := observe.NewFence()
	return &Reconciler[T]{
		kind:      kind,
		observer:  observe.Reader{Cache: d.Client, Live: d.Live, Fence: fence},
		applier:   apply.New(d.Client, d.Live, fence.Expect),
		reporter:  newReporter(d, kind, fence.Expect),
		newObject: newObject,
		translate: translate,
	}
}

// ManagerOptions returns what the controllers ask of their manager: the cache, limited to
// the operator's own objects in the given namespaces (none means all), and full already
// when a standby takes over.
func ManagerOptions(namespaces []string) manager.Options {
	return manager.Options{
		Cache:      observe.CacheOptions(namespaces),
		Controller: config.Controller{EnableWarmup: new(true)},
	}
}

// SetupWithManager adds the controllers of both kinds to the manager.
func SetupWithManager(ctx context.Context, mgr manager.Manager, options Options) error {
	if err := observe.IndexFields(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	d := Dependencies{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder(workload.FieldManager), Clock: clock.RealClock{}}
	if err := watch(mgr, "egapp", workload.LabelEGApp, NewEGAppReconciler(d, options.Images), options); err != nil {
		return err
	}
	return watch(mgr, "demomicroservice", workload.LabelDemoMicroService, NewDemoMicroServiceReconciler(d), options)
}

// watch runs the reconciler for each event of an application or of anything that
// carries its label: the children, whoever controls them now, and their pods.
func watch[T application](mgr manager.Manager, name, selectorKey string, r *Reconciler[T], options Options) error {
	toOwner := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		return ownersOf(object, r.kind, selectorKey)
	})
	b := builder.ControllerManagedBy(mgr).
		Named(name).
		For(r.newObject()).
		Watches(&corev1.Pod{}, toOwner).
		WatchesMetadata(&appsv1.ReplicaSet{}, toOwner, builder.WithPredicates(readOfReplicaSet)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.MaxConcurrentReconciles,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		})
	for _, kind := range resources.Kinds {
		b = b.Watches(kind.New(), toOwner)
	}
	return b.Complete(uninterrupted(r))
}

// uninterrupted lets a turn that is under way end when the operator is stopped: what it
// writes next is what the operator would write first after the restart.
func uninterrupted(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), turnTimeout)
		defer cancel()
		return r.Reconcile(ctx, request)
	})
}

// ownersOf returns the application that an object belongs to, by its label, and the one
// that controls it, since either mark may have been taken away.
func ownersOf(object client.Object, kind, selectorKey string) []reconcile.Request {
	var requests []reconcile.Request
	add := func(name string) {
		request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}
		if !slices.Contains(requests, request) {
			requests = append(requests, request)
		}
	}
	if name, ok := object.GetLabels()[selectorKey]; ok {
		add(name)
	}
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && controller.Kind == kind {
		add(controller.Name)
	}
	return requests
}

// readOfReplicaSet drops the updates of a ReplicaSet that change nothing of what is read.
var readOfReplicaSet = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld, e.ObjectNew
	return before.GetAnnotations()[workload.AnnotationRevision] != after.GetAnnotations()[workload.AnnotationRevision] ||
		!equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) ||
		!equality.Semantic.DeepEqual(before.GetLabels(), after.GetLabels())
}}
