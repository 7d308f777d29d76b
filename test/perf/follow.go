// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// follow calls seen with each state of the objects of a list's kind in a namespace, in which there are none yet, until
// the context ends.
func follow(
	ctx context.Context, c client.WithWatch, list client.ObjectList, namespace string, failed func(error), seen func(client.Object),
) error {
	watcher, err := c.Watch(ctx, list, client.InNamespace(namespace))
	if err != nil {
		return fmt.Errorf("watch %T: %w", list, err)
	}
	go func() {
		defer watcher.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case event, open := <-watcher.ResultChan():
				switch object, isObject := event.Object.(client.Object); {
				case ctx.Err() != nil:
					return
				case !open:
					failed(fmt.Errorf("the watch of %T has ended", list))
					return
				case event.Type == watch.Error:
					failed(fmt.Errorf("the watch of %T: %w", list, apierrors.FromObject(event.Object)))
					return
				case isObject && (event.Type == watch.Added || event.Type == watch.Modified):
					seen(object)
				}
			}
		}
	}()
	return nil
}

// moments holds when something was first the case.
type moments struct {
	mu      sync.Mutex
	at      map[string]time.Time
	changed chan struct{}
}

func newMoments() *moments { return &moments{at: map[string]time.Time{}, changed: make(chan struct{})} }

// mark notes that something is the case, and tells whether that is new.
func (m *moments) mark(what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.at[what]; known {
		return false
	}
	m.at[what] = time.Now()
	close(m.changed)
	m.changed = make(chan struct{})
	return true
}

// look returns how many there are, when this one was, and what is closed when there is one more.
func (m *moments) look(what string) (n int, at time.Time, more <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.at), m.at[what], m.changed
}

// await returns when something was, once it is the case.
func (m *moments) await(ctx context.Context, what string) (time.Time, error) {
	for {
		_, at, more := m.look(what)
		if !at.IsZero() {
			return at, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return at, fmt.Errorf("await %s: %w", what, context.Cause(ctx))
		}
	}
}

// awaitAll returns once n of them are the case.
func (m *moments) awaitAll(ctx context.Context, n int) error {
	for {
		have, _, more := m.look("")
		if have >= n {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d: %w", have, n, context.Cause(ctx))
		}
	}
}
