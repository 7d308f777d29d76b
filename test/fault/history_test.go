// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// added returns the event of an object in YAML that is made.
func added(t *testing.T, text string) Event {
	t.Helper()
	object := objectOf(t, text)
	return Event{Type: watch.Added, Kind: object.GetKind(), Object: object, At: time.Now()}
}

// changedTo returns the event with another type and version.
func (e Event) changedTo(kind watch.EventType, version string) Event {
	e.Object = e.Object.DeepCopy()
	e.Object.SetResourceVersion(version)
	e.Type = kind
	return e
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, resourceVersion: '5'}"

// TestHistory tells what a history shows.
func TestHistory(t *testing.T) {
	h := newHistory()
	if h.Len() != 0 || !h.Last().IsZero() || len(h.View().objects) != 0 {
		t.Error("an empty history is not empty")
	}
	first := added(t, configMap)
	h.add(first)
	mark, then := h.Len(), h.View()
	h.add(added(t, deployment))
	h.add(first.changedTo(watch.Deleted, "6"))
	if since := h.Since(mark); len(since) != 2 || since[0].Kind != "Deployment" || since[1].Type != watch.Deleted {
		t.Errorf("since the mark there is %+v", since)
	}
	if now := h.View(); now.Get("ConfigMap", "config") != nil || now.Get("Deployment", "app") == nil {
		t.Errorf("there is now %+v", now)
	}
	if then.Get("ConfigMap", "config") == nil || then.Get("Deployment", "app") != nil {
		t.Errorf("the view of the past is now %+v", then)
	}
}

// TestAwait tells that a check is made again at each event, and what is told when it never passes.
func TestAwait(t *testing.T) {
	h := newHistory()
	check := func() error {
		if h.Len() < 2 {
			return fmt.Errorf("%d events", h.Len())
		}
		return nil
	}
	go func() {
		for range 2 {
			h.add(added(t, configMap))
		}
	}()
	if err := h.Await(t.Context(), check); err != nil {
		t.Error(err)
	}
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, late)
	defer cancel()
	err := h.Await(ctx, func() error { return errors.New("never so") })
	if !errors.Is(err, late) || !strings.Contains(err.Error(), "never so") {
		t.Errorf("it is told as %v", err)
	}
}

// TestAwaitVersion tells that a version counts as seen when it or a later one has come.
func TestAwaitVersion(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	h := newHistory()
	h.add(added(t, configMap))
	for version, isSeen := range map[string]bool{"4": true, "5": true, "6": false, "10": false} {
		if err := h.AwaitVersion(ctx, "ConfigMap", "config", version); (err == nil) != isSeen {
			t.Errorf("version %s of 5: %v", version, err)
		}
	}
	if err := h.AwaitVersion(ctx, "ConfigMap", "other", "5"); err == nil {
		t.Error("the version of another object counts")
	}
}

// TestAwaitGone tells that an object is gone when it was deleted, or another has its name.
func TestAwaitGone(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	h := newHistory()
	first := added(t, configMap)
	h.add(first)
	key, uid := objectKey{"ConfigMap", "config"}, first.Object.GetUID()
	if err := h.AwaitGone(ctx, key, uid); err == nil {
		t.Error("an object that is there is gone")
	}
	h.add(first.changedTo(watch.Deleted, "6"))
	if err := h.AwaitGone(t.Context(), key, uid); err != nil {
		t.Error(err)
	}
	second := added(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, uid: another}")
	h.add(second)
	if err := h.AwaitGone(t.Context(), key, uid); err != nil {
		t.Error(err)
	}
	if err := h.AwaitGone(ctx, key, second.Object.GetUID()); err == nil {
		t.Error("the object that has the name now is gone")
	}
}

// TestRecorderKeepsNamespacesApart tells that a history has what happened in its namespace, since it was begun.
func TestRecorderKeepsNamespacesApart(t *testing.T) {
	r := &Recorder{histories: map[string]*History{}}
	one, other := r.Begin("one"), r.Begin("other")
	r.End("other")
	events := watch.NewRaceFreeFake()
	for _, namespace := range []string{"one", "other", "unknown"} {
		object := objectOf(t, configMap)
		object.SetNamespace(namespace)
		events.Add(object)
	}
	rootOfOne := objectOf(t, configMap)
	rootOfOne.SetNamespace("one")
	rootOfOne.SetName(rootCA)
	events.Add(rootOfOne)
	events.Stop()
	r.record(t.Context(), "ConfigMap", events)
	if one.Len() != 1 || other.Len() != 0 {
		t.Errorf("there are %d and %d events", one.Len(), other.Len())
	}
	if r.Err() == nil {
		t.Error("the end of a watch is not told")
	}
}
