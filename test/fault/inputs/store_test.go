// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"platformapp/internal/workload"
)

// childKinds are all kinds of children.
var childKinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Service"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"},
	{Group: "route.openshift.io", Version: "v1", Kind: "Route"},
	{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"},
}

// key names an application.
type key struct{ kind, namespace, name string }

func (k key) String() string { return k.kind + " " + k.namespace + "/" + k.name }

// store follows all applications and their children.
type store struct {
	mu      sync.Mutex
	records map[key]*record
	// seen is told of each child that is made or changed.
	seen func(*unstructured.Unstructured)
}

// record is an application with its children, as they were last seen.
type record struct {
	app *unstructured.Unstructured
	// children by kind and name.
	children map[string]*unstructured.Unstructured
	// template is the pod template, and templates how often there was another one before.
	template  string
	templates int
	// changed is closed, and made anew, at each change.
	changed chan struct{}
}

// follow starts to follow what there is, until ctx ends.
func follow(
	ctx context.Context, config *rest.Config, kinds map[string]Kind, namespaces []string, seen func(*unstructured.Unstructured),
) (*store, error) {
	s := &store{records: map[key]*record{}, seen: seen}
	options := cache.Options{DefaultNamespaces: map[string]cache.Config{}}
	for _, namespace := range namespaces {
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	objects, err := cache.New(config, options)
	if err != nil {
		return nil, err
	}
	followed := slices.Clone(childKinds)
	for _, kind := range kinds {
		followed = append(followed, kind.GroupVersionKind)
	}
	for _, gvk := range followed {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(gvk)
		informer, err := objects.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, err
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { s.put(o, false) },
			UpdateFunc: func(_, o any) { s.put(o, false) },
			DeleteFunc: func(o any) { s.put(o, true) },
		}); err != nil {
			return nil, err
		}
	}
	go func() { _ = objects.Start(ctx) }()
	if !objects.WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("the caches are not filled: %w", ctx.Err())
	}
	return s, nil
}

func (s *store) put(value any, gone bool) {
	if tombstone, ok := value.(toolscache.DeletedFinalStateUnknown); ok {
		value = tombstone.Obj
	}
	object, ok := value.(*unstructured.Unstructured)
	if !ok {
		return
	}
	owner, isChild := ownerOf(object)
	if _, isApplication := ownerLabels[object.GetKind()]; !isChild && !isApplication {
		return
	}
	s.mu.Lock()
	r := s.of(owner)
	switch id := object.GetKind() + "/" + object.GetName(); {
	case !isChild && gone:
		r.app = nil
	case !isChild:
		r.app = object
	case gone:
		delete(r.children, id)
	default:
		r.children[id] = object
		r.countTemplate(object)
	}
	close(r.changed)
	r.changed = make(chan struct{})
	s.mu.Unlock()
	if isChild && !gone {
		s.seen(object)
	}
}

func (r *record) countTemplate(object *unstructured.Unstructured) {
	if object.GetKind() != "Deployment" {
		return
	}
	template, _, _ := unstructured.NestedMap(object.Object, "spec", "template")
	content, err := json.Marshal(template)
	if err != nil || string(content) == r.template {
		return
	}
	if r.template != "" {
		r.templates++
	}
	r.template = string(content)
}

// ownerLabels are the labels on children that name their application, by its kind.
var ownerLabels = map[string]string{"EGApp": workload.LabelEGApp, "DemoMicroService": workload.LabelDemoMicroService}

// ownerOf returns whose child an object is, by its labels; an application is its own.
func ownerOf(object *unstructured.Unstructured) (owner key, isChild bool) {
	labels := object.GetLabels()
	for kind, label := range ownerLabels {
		if name := labels[label]; name != "" && object.GetKind() != kind && labels[workload.LabelOwnerUID] != "" {
			return key{kind, object.GetNamespace(), name}, true
		}
	}
	return key{object.GetKind(), object.GetNamespace(), object.GetName()}, false
}

// of returns the record of an application. The caller holds the lock.
func (s *store) of(k key) *record {
	r := s.records[k]
	if r == nil {
		r = &record{children: map[string]*unstructured.Unstructured{}, changed: make(chan struct{})}
		s.records[k] = r
	}
	return r
}

// get returns what was last seen of an application. Its channel is closed at the next change.
func (s *store) get(k key) record {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := *s.of(k)
	r.children = maps.Clone(r.children)
	return r
}

// versions returns the resource versions of all applications that are there and of their children.
func (s *store) versions() map[key]map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[key]map[string]string{}
	for k, r := range s.records {
		if r.app == nil {
			continue
		}
		all[k] = map[string]string{k.kind: r.app.GetResourceVersion()}
		for id, child := range r.children {
			all[k][id] = child.GetResourceVersion()
		}
	}
	return all
}
