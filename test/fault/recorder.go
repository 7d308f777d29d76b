// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	toolswatch "k8s.io/client-go/tools/watch"
)

// Recorder writes the histories of namespaces. One watch of each kind serves all of them, so that many plans at once cost
// hardly more than one.
type Recorder struct {
	mu        sync.Mutex
	histories map[string]*History
	err       error
}

// StartRecorder records until the context ends. It fails when a kind cannot be watched.
func StartRecorder(ctx context.Context, config *rest.Config) (*Recorder, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	r := &Recorder{histories: map[string]*History{}}
	for kind, resource := range recordedKinds {
		objects := client.Resource(resource)
		list, err := objects.List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", resource, err)
		}
		watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), watchOf{objects})
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", resource, err)
		}
		go r.record(ctx, kind, watcher)
	}
	return r, nil
}

// watchOf watches a resource in all namespaces.
type watchOf struct {
	dynamic.ResourceInterface
}

// WatchWithContext begins a watch.
func (w watchOf) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return w.Watch(ctx, options)
}

func (r *Recorder) record(ctx context.Context, kind string, watcher watch.Interface) {
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Error {
			r.fail(fmt.Errorf("the watch of %s ended: %v", kind, event.Object))
			return
		}
		if history := r.find(object.GetNamespace()); history != nil && object.GetName() != rootCA {
			history.add(Event{Type: event.Type, Kind: kind, Object: object, At: time.Now()})
		}
	}
	if ctx.Err() == nil {
		r.fail(fmt.Errorf("the watch of %s ended", kind))
	}
}

func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// Err returns why the histories are incomplete, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Begin returns the history of a namespace that does not exist yet.
func (r *Recorder) Begin(namespace string) *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := newHistory()
	r.histories[namespace] = h
	return h
}

// End stops recording a namespace, and lets go of its history.
func (r *Recorder) End(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.histories, namespace)
}

func (r *Recorder) find(namespace string) *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.histories[namespace]
}
