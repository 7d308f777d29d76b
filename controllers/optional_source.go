// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"platformapp/internal/resources"
)

// settlePoll is the time between two looks whether a loop may begin.
const settlePoll = 5 * time.Millisecond

// optionalSource leads the events of the optional kinds to the loop of one kind of
// application, and lets it begin when the cluster is known.
type optionalSource struct {
	kinds   *optionalKinds
	handler handler.EventHandler
	// newList makes an empty list of the applications.
	newList func() (client.ObjectList, error)

	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

var _ source.SyncingSource = &optionalSource{}

// sourceFor returns the source of the loop for applications of the type of app.
func (o *optionalKinds) sourceFor(app client.Object, scheme *runtime.Scheme, toOwner handler.EventHandler) (*optionalSource, error) {
	gvks, _, err := scheme.ObjectKinds(app)
	if err != nil {
		return nil, err
	}
	listKind := gvks[0].GroupVersion().WithKind(gvks[0].Kind + "List")
	return &optionalSource{kinds: o, handler: toOwner, newList: func() (client.ObjectList, error) {
		object, err := scheme.New(listKind)
		if err != nil {
			return nil, err
		}
		list, ok := object.(client.ObjectList)
		if !ok {
			return nil, fmt.Errorf("%T is no list of objects", object)
		}
		return list, nil
	}}, nil
}

// Start leads the events to a queue from now on.
func (s *optionalSource) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	s.kinds.mu.Lock()
	defer s.kinds.mu.Unlock()
	s.queue = queue
	s.kinds.loops = append(s.kinds.loops, s)
	for _, kind := range optional() {
		if watch, ok := s.kinds.watched[kind.Name]; ok {
			s.follow(watch.ctx, kind)
		}
	}
	return nil
}

// WaitForSync waits until the cluster is known.
func (s *optionalSource) WaitForSync(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, settlePoll, true, func(context.Context) (bool, error) { return s.kinds.isSettled(), nil })
	if err != nil {
		return errUnknownPlatform
	}
	return nil
}

// String describes the source for the log.
func (s *optionalSource) String() string { return "optional kinds" }

// follow leads the events of a kind to the queue, for as long as its informer runs.
func (s *optionalSource) follow(ctx context.Context, kind resources.Kind) {
	events := source.Kind[client.Object](s.kinds.cache, kind.New(), s.handler)
	if err := events.Start(ctx, s.queue); err != nil {
		log.FromContext(ctx).Error(err, "A kind is not watched", "kind", kind.Name)
	}
}

// lookAtAll puts all applications into the queue.
func (s *optionalSource) lookAtAll(ctx context.Context) {
	if err := s.enqueueAll(ctx); err != nil {
		log.FromContext(ctx).Error(err, "The applications are not looked at after a change of the cluster's APIs")
	}
}

func (s *optionalSource) enqueueAll(ctx context.Context) error {
	list, err := s.newList()
	if err != nil {
		return err
	}
	if err := s.kinds.cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	return meta.EachListItem(list, func(item runtime.Object) error {
		app, err := meta.Accessor(item)
		if err == nil {
			s.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: app.GetNamespace(), Name: app.GetName()}})
		}
		return err
	})
}
