// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/workload"
)

// appIDIndex is the index of EGApps by environment and appId.
const appIDIndex = "platformapp-app-id"

// appIDKey returns the key in appIDIndex; an EGApp without appId has none.
func appIDKey(app *v1alpha1.EGApp) string {
	if app.Spec.AppID == "" {
		return ""
	}
	return string(app.Spec.Environment) + "/" + app.Spec.AppID
}

// indexAppIDs adds the index. It must run before the cache starts.
func indexAppIDs(ctx context.Context, indexer client.FieldIndexer) error {
	return indexer.IndexField(ctx, &v1alpha1.EGApp{}, appIDIndex, func(object client.Object) []string {
		if app, ok := object.(*v1alpha1.EGApp); ok && appIDKey(app) != "" {
			return []string{appIDKey(app)}
		}
		return nil
	})
}

// duplicates finds EGApps that have the appId of another one in the same environment: in
// its namespace, or anywhere if the platform wants ids to be unique in the cluster.
type duplicates struct {
	cache       client.Reader
	clusterWide bool
}

// twins returns the other EGApps with the appId of this one.
func (d duplicates) twins(ctx context.Context, app *v1alpha1.EGApp) ([]v1alpha1.EGApp, error) {
	key := appIDKey(app)
	if key == "" {
		return nil, nil
	}
	options := []client.ListOption{client.MatchingFields{appIDIndex: key}, client.UnsafeDisableDeepCopy}
	if !d.clusterWide {
		options = append(options, client.InNamespace(app.Namespace))
	}
	var list v1alpha1.EGAppList
	if err := d.cache.List(ctx, &list, options...); err != nil {
		return nil, fmt.Errorf("look for other EGApps with appId %s: %w", app.Spec.AppID, err)
	}
	var twins []v1alpha1.EGApp
	for _, other := range list.Items {
		if other.Namespace != app.Namespace || other.Name != app.Name {
			twins = append(twins, other)
		}
	}
	return twins, nil
}

// check stalls an EGApp while there is one with its appId that comes first.
func (d duplicates) check(ctx context.Context, app *v1alpha1.EGApp, _ workload.Workload, _ workload.Observed) (*workload.Stall, error) {
	twins, err := d.twins(ctx, app)
	if err != nil {
		return nil, err
	}
	for i := range twins {
		if why := whyFirst(&twins[i], app); why != "" {
			return &workload.Stall{Reason: workload.StallDuplicateAppID, Message: fmt.Sprintf(
				"%s has appId %s in environment %s as well, and %s. This one starts by itself when that one is deleted or has another appId or environment.",
				nameForOthers(&twins[i], app), app.Spec.AppID, app.Spec.Environment, why)}, nil
		}
	}
	return nil, nil
}

// whyFirst returns why an EGApp comes before another with its appId, or nothing if it does
// not. A creation is known to the second: of two of one second that comes first which has
// got further, so that what runs is not stopped for it, and else which has the lesser UID.
// All of it is stored, so that whoever looks decides alike.
func whyFirst(first, second *v1alpha1.EGApp) string {
	created := first.CreationTimestamp.Compare(second.CreationTimestamp.Time)
	ahead := progressOf(first) - progressOf(second)
	switch {
	case created < 0:
		return "is older"
	case created == 0 && (ahead > 0 || ahead == 0 && first.UID < second.UID):
		return "comes first, of the two that were made in the same second"
	default:
		return ""
	}
}

// progressOf tells how far an EGApp has got with its appId: 0 if it waits for another or
// nobody has looked at it, 1 if it was carried out before its last change, and 2 as it is.
func progressOf(app *v1alpha1.EGApp) int {
	stalled := meta.FindStatusCondition(app.Status.Conditions, appstatus.ConditionStalled)
	switch waits := stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == appstatus.ReasonDuplicateAppID; {
	case waits, app.Status.ObservedGeneration <= 0:
		return 0
	case app.Status.ObservedGeneration < app.Generation:
		return 1
	default:
		return 2
	}
}

// nameForOthers names an EGApp to the owner of another one, who may not know what there
// is in other namespaces.
func nameForOthers(named, to *v1alpha1.EGApp) string {
	if named.Namespace != to.Namespace {
		return "An EGApp in another namespace"
	}
	return "EGApp " + named.Name
}

// Duplicate returns a function that says, for a person, which other EGApp has the appId of
// an EGApp that may not be stored yet, or nothing. It reads from a cache with the indexes
// that SetupWithManager adds.
func Duplicate(cache client.Reader, options Options) func(context.Context, *v1alpha1.EGApp) (string, error) {
	d := duplicates{cache: cache, clusterWide: options.ClusterWideAppIDs}
	return func(ctx context.Context, app *v1alpha1.EGApp) (string, error) {
		twins, err := d.twins(ctx, app)
		if err != nil || len(twins) == 0 {
			return "", err
		}
		return fmt.Sprintf("%s has appId %s in environment %s as well; the newer of the two waits until the older one is deleted or has another appId or environment",
			nameForOthers(&twins[0], app), app.Spec.AppID, app.Spec.Environment), nil
	}
}

// wakeTwins looks at the EGApps with the appId that an EGApp has or had, when it comes,
// goes or changes that.
func (d duplicates) wakeTwins() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(ctx context.Context, object client.Object, q queue) {
		app, ok := object.(*v1alpha1.EGApp)
		if !ok {
			return
		}
		twins, err := d.twins(ctx, app)
		if err != nil {
			log.FromContext(ctx).Error(err, "EGApps with the same appId are not looked at")
		}
		for i := range twins {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: twins[i].Namespace, Name: twins[i].Name}})
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				wake(ctx, e.Object, q)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, isApp := e.ObjectOld.(*v1alpha1.EGApp)
			after, isAppStill := e.ObjectNew.(*v1alpha1.EGApp)
			if isApp && isAppStill && (appIDKey(before) != appIDKey(after) || before.UID != after.UID) {
				wake(ctx, before, q)
				wake(ctx, after, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, e.Object, q) },
	}
}
