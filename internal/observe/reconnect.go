// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"platformapp/internal/resources"
)

const (
	// firstReconnect and lastReconnect bound the growing delay between two attempts to list or watch a kind, to which up
	// to as much again is added at random. An informer of client-go waits up to a minute after an outage of minutes,
	// and an application needs about all of its kinds to converge.
	firstReconnect = 500 * time.Millisecond
	lastReconnect  = 5 * time.Second
	// reconnectPatience is when the informer is told of the error, which logs it. It is longer than the two minutes
	// without an error after which an informer begins anew with its own, short, delays.
	reconnectPatience = 150 * time.Second
)

// newInformer returns an informer that is back within seconds when the API server is.
func newInformer(
	source toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	from, w := toolscache.ToListerWatcherWithContext(source), watched{kind: nameOf(object), mayGo: isOptional(object)}
	return toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return reconnect(ctx, w, func() (runtime.Object, error) { return from.ListWithContext(ctx, options) })
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return reconnect(ctx, w, func() (watch.Interface, error) { return from.WatchWithContext(ctx, options) })
		},
	}, object, resync, indexers)
}

// watched is a kind of object that an informer watches.
type watched struct {
	kind string
	// mayGo tells that the cluster may cease to serve the kind for good.
	mayGo bool
}

// nameOf returns the kind of an object. What is metadata alone says it; of the rest the type is called so.
func nameOf(object runtime.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.Indirect(reflect.ValueOf(object)).Type().Name()
}

// isOptional tells whether an object is of a kind that a cluster may lack.
func isOptional(object runtime.Object) bool {
	return slices.ContainsFunc(resources.Kinds, func(kind resources.Kind) bool {
		return kind.Optional && reflect.TypeOf(kind.New()) == reflect.TypeOf(object)
	})
}

// reconnect makes a request until the API server answers it, and tells the log once when it has to wait for that.
func reconnect[T any](ctx context.Context, w watched, request func() (T, error)) (T, error) {
	delay := wait.Backoff{Duration: firstReconnect, Factor: 2, Steps: 10, Cap: lastReconnect, Jitter: 1}
	for start := time.Now(); ; {
		answer, err := request()
		if err == nil || !w.isOutage(err) || ctx.Err() != nil || time.Since(start) > reconnectPatience {
			return answer, err
		}
		if delay.Duration == firstReconnect {
			log.FromContext(ctx).Info("A kind cannot be watched at the moment", "kind", w.kind, "reason", err.Error())
		}
		select {
		case <-ctx.Done():
			return answer, err
		case <-time.After(delay.Step()):
		}
	}
}

// isOutage tells the errors that go when the API server works again, lets the operator in again, or serves the kind again,
// from those that the informer has to act on, such as a resource version that is too old.
func (w watched) isOutage(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotFound:
		return !w.mayGo
	default:
		return code >= http.StatusInternalServerError && !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
	}
}
