// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/apply"
	"platformapp/internal/metrics"
	"platformapp/internal/observe"
	"platformapp/internal/platform"
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
	translate.Options
	// MaxConcurrentReconciles is how many applications of a kind are worked on at once.
	MaxConcurrentReconciles int
	// ClusterWideAppIDs makes an appId unique in its environment in the whole cluster, not
	// only in its namespace.
	ClusterWideAppIDs bool
	// AllowedServiceAccounts are the ServiceAccounts, as namespace/name or */name, that
	// EGApps may run as without an annotation on them.
	AllowedServiceAccounts []string
	// DiscoveryPeriod is the time between two looks at which APIs the cluster has; zero is
	// a minute.
	DiscoveryPeriod time.Duration
}

func (o Options) duplicates(cache client.Reader) duplicates {
	return duplicates{cache: cache, clusterWide: o.ClusterWideAppIDs}
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
	// Platform returns what is known of the cluster, or why nothing is.
	Platform func() (platform.Facts, error)
	// Lacks looks anew whether the cluster lacks an optional kind.
	Lacks func(ctx context.Context, kind string) bool
	// Recorder takes the events.
	Recorder events.EventRecorder
	// Clock paces the status writes.
	Clock clock.PassiveClock
}

func newReconciler[T application](d Dependencies, kind string, newObject func() T, translate func(T) (workload.Workload, error), checks ...check[T]) *Reconciler[T] {
	fence := observe.NewFence()
	return &Reconciler[T]{
		kind:       kind,
		observer:   observe.Reader{Cache: d.Client, Live: d.Live, Platform: d.Platform, Fence: fence},
		references: observe.NewReferences(),
		applier:    apply.New(metrics.Counted(d.Client), d.Live, fence),
		reporter:   newReporter(d, kind, fence),
		lacks:      d.Lacks,
		newObject:  newObject,
		translate:  translate,
		checks:     checks,
	}
}

// ManagerOptions returns what the controllers ask of their manager: the cache, limited to
// the operator's own objects in the given namespaces (none means all), which waits for no
// optional kind, and is full already when a standby takes over.
func ManagerOptions(namespaces []string, apis *APIs) manager.Options {
	applications := []client.Object{&v1alpha1.EGApp{}, &devopsv1.DemoMicroService{}}
	options := manager.Options{
		Cache:      observe.CacheOptions(namespaces, applications...),
		NewCache:   observe.NewCache(applications...),
		Controller: config.Controller{EnableWarmup: new(true)},
		// Remembers what it was told of a kind.
		MapperProvider: observe.NewMapper,
	}
	options.Cache.DefaultWatchErrorHandler = apis.watchFailed
	return options
}

// IndexFields adds the indexes that the controllers read by. It must run before the cache
// starts.
func IndexFields(ctx context.Context, indexer client.FieldIndexer) error {
	if err := observe.IndexFields(ctx, indexer); err != nil {
		return err
	}
	return indexAppIDs(ctx, indexer)
}

// SetupWithManager adds the controllers of both kinds to the manager, which has the options
// that ManagerOptions returned for the same apis.
func SetupWithManager(ctx context.Context, mgr manager.Manager, apis *APIs, options Options) error {
	if err := IndexFields(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	kinds, err := newOptionalKinds(mgr, options.DiscoveryPeriod, apis.doubts)
	if err != nil {
		return err
	}
	apis.kinds.Store(kinds)
	d := Dependencies{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Platform: apis.facts, Lacks: apis.lacks,
		Recorder: mgr.GetEventRecorder(workload.FieldManager), Clock: clock.RealClock{},
	}
	egapps := NewEGAppReconciler(d, options)
	loop, err := watch(mgr, "egapp", workload.LabelEGApp, egapps, kinds, options)
	if err != nil {
		return err
	}
	if err := loop.Watches(&v1alpha1.EGApp{}, options.duplicates(mgr.GetClient()).wakeTwins()).Complete(uninterrupted(egapps)); err != nil {
		return err
	}
	services := NewDemoMicroServiceReconciler(d)
	if loop, err = watch(mgr, "demomicroservice", workload.LabelDemoMicroService, services, kinds, options); err != nil {
		return err
	}
	return loop.Complete(uninterrupted(services))
}

// watch runs the reconciler for each event of an application, of anything that carries its
// label, which are the children, whoever controls them now, and their pods, and of what it
// refers to.
func watch[T application](mgr manager.Manager, name, selectorKey string, r *Reconciler[T], kinds *optionalKinds, options Options) (*builder.Builder, error) {
	gvk, err := apiutil.GVKForObject(r.newObject(), mgr.GetScheme())
	if err != nil {
		return nil, err
	}
	owner := toOwner(r.kind, selectorKey)
	optionals, err := kinds.sourceFor(r.newObject(), mgr.GetScheme(), owner)
	if err != nil {
		return nil, err
	}
	b := builder.ControllerManagedBy(mgr).
		Named(name).
		For(r.newObject()).
		Watches(&corev1.Pod{}, owner).
		WatchesMetadata(&appsv1.ReplicaSet{}, owner, builder.WithPredicates(readOfReplicaSet)).
		WatchesRawSource(optionals).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.MaxConcurrentReconciles,
			LogConstructor:          logOf(mgr.GetLogger(), name, gvk),
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		})
	for _, kind := range resources.Kinds {
		if !kind.Optional {
			b = b.Watches(kind.New(), owner, builder.WithPredicates(readOfChild))
		}
	}
	for _, object := range observe.Referenced() {
		b = b.Watches(object, toReferrers(r.references))
	}
	return b, nil
}

// logOf returns what makes the logs of a controller: of a turn with the application, and of
// the controller's own doings, such as the start of each of its watches, only in detail.
// Errors are told of both.
func logOf(log logr.Logger, name string, gvk schema.GroupVersionKind) func(*reconcile.Request) logr.Logger {
	log = log.WithValues("controller", name, "controllerGroup", gvk.Group, "controllerKind", gvk.Kind)
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return log.V(1)
		}
		return log.WithValues("object", klog.KRef(request.Namespace, request.Name), "namespace", request.Namespace, "name", request.Name)
	}
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
