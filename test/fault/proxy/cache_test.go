// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/test/fault/proxy"
)

// view is a cache of ConfigMaps and applications behind the Proxy.
type view struct {
	*cluster
	cache.Cache
	updates atomic.Int64 // of ConfigMaps
}

// newView starts a cache and waits for it to be filled.
func (c *cluster) newView() *view {
	c.Helper()
	v := c.startView()
	if !v.WaitForCacheSync(c.Context()) {
		c.Fatal("the cache does not fill")
	}
	return v
}

func (c *cluster) startView() *view {
	c.Helper()
	v := &view{cluster: c}
	var err error
	namespaces := map[string]cache.Config{c.namespace: {}}
	v.Cache, err = cache.New(c.proxy.Config(), cache.Options{Scheme: c.scheme, DefaultNamespaces: namespaces})
	c.must(err)
	for _, object := range []client.Object{&corev1.ConfigMap{}, &v1alpha1.EGApp{}} {
		informer, err := v.GetInformer(c.Context(), object, cache.BlockUntilSynced(false))
		c.must(err)
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
			if _, is := object.(*corev1.ConfigMap); is {
				v.updates.Add(1)
			}
		}})
		c.must(err)
	}
	ctx, cancel := context.WithCancel(c.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = v.Start(ctx)
	}()
	c.Cleanup(func() {
		cancel()
		<-done
	})
	return v
}

// objects are one object of each encoding, in the cluster.
func (c *cluster) objects() []client.Object {
	c.Helper()
	objects := []client.Object{c.configMap("app"), c.newEGApp("app")}
	for _, object := range objects {
		c.must(c.user.Create(c.Context(), object))
	}
	return objects
}

// label changes the objects in the cluster.
func (c *cluster) label(objects []client.Object, value string) {
	c.Helper()
	for _, object := range objects {
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{"turn":%q}}}`, value)
		c.must(c.user.Patch(c.Context(), object, client.RawPatch(client.Merge.Type(), patch)))
	}
}

// shows tells whether the cache holds the objects as they are now.
func (v *view) shows(objects []client.Object) bool {
	for _, object := range objects {
		if seen := v.cached(object); seen.GetUID() != object.GetUID() || seen.GetResourceVersion() != object.GetResourceVersion() {
			return false
		}
	}
	return true
}

// cached returns what the cache holds; an empty object when that is nothing.
func (v *view) cached(object client.Object) client.Object {
	v.Helper()
	seen := object.DeepCopyObject().(client.Object)
	err := v.Get(v.Context(), client.ObjectKeyFromObject(object), seen)
	if apierrors.IsNotFound(err) {
		return &corev1.ConfigMap{}
	}
	v.must(err)
	return seen
}

func (v *view) eventuallyShows(objects []client.Object) {
	v.Helper()
	eventually(v.T, "the cache shows the cluster", func() bool { return v.shows(objects) })
}

func cacheIsFrozen(c *cluster) {
	objects := c.objects()
	v := c.newView()
	v.eventuallyShows(objects)
	hold := c.proxy.FreezeWatches(proxy.Any)
	c.label(objects, "1")
	eventually(c.T, "the events are kept", func() bool { return hold.Kept() >= len(objects) })
	for _, object := range objects {
		if turn := v.cached(object).GetLabels()["turn"]; turn != "" {
			c.Errorf("the frozen cache shows turn %s of a %T", turn, object)
		}
	}
	hold.Release()
	v.eventuallyShows(objects)
	c.label(objects, "2")
	v.eventuallyShows(objects)
}

// cacheMissesEvents lets an object be deleted and made anew while nobody looks.
func cacheMissesEvents(c *cluster) {
	objects := c.objects()
	v := c.newView()
	v.eventuallyShows(objects)
	hold := c.proxy.FreezeWatches(proxy.Any)
	for _, object := range objects {
		c.must(c.user.Delete(c.Context(), object))
		object.SetResourceVersion("")
		object.SetUID("")
		c.must(c.user.Create(c.Context(), object))
	}
	eventually(c.T, "the events are kept", func() bool { return hold.Kept() >= 2*len(objects) })
	if v.shows(objects) {
		c.Error("the frozen cache shows the cluster")
	}
	begin := c.proxy.Count()
	hold.Drop()
	v.eventuallyShows(objects)
	if again := c.keys(begin); len(again) < 2 {
		c.Errorf("the cache asked %q", again)
	}
}

func cacheDoesNotFill(c *cluster) {
	objects := c.objects()
	hold := c.proxy.FreezeWatches(func(r proxy.Request) bool { return r.Resource == "configmaps" }, proxy.WithLists())
	v := c.startView()
	eventually(c.T, "the first view is kept", func() bool { return hold.Kept() >= 2 })
	ctx, cancel := context.WithTimeout(c.Context(), 50*time.Millisecond)
	defer cancel()
	if v.WaitForCacheSync(ctx) {
		c.Error("the cache is filled")
	}
	hold.Release()
	if !v.WaitForCacheSync(c.Context()) {
		c.Error("the cache is not filled")
	}
	v.eventuallyShows(objects)
}

func watchesAreCut(c *cluster) {
	objects := c.objects()
	v := c.newView()
	for turn := range 2 {
		eventually(c.T, "both watches are open", func() bool { return len(c.proxy.Watching(proxy.Any)) == 2 })
		if cut := c.proxy.CutWatches(proxy.Any); cut != 2 {
			c.Errorf("%d watches are cut", cut)
		}
		c.label(objects, fmt.Sprint(turn))
		v.eventuallyShows(objects)
	}
}

func watchesEnd(c *cluster) {
	objects := c.objects()
	v := c.newView()
	v.eventuallyShows(objects)
	if ended := c.proxy.EndWatches(proxy.Any); ended != 2 {
		c.Errorf("%d watches are ended", ended)
	}
	c.label(objects, "1")
	v.eventuallyShows(objects)
}

func eventsAreDelayed(c *cluster) {
	const delay = 300 * time.Millisecond
	objects := c.objects()
	v := c.newView()
	v.eventuallyShows(objects)
	c.proxy.DelayWatches(proxy.Any, delay)
	begin := time.Now()
	c.label(objects, "1")
	v.eventuallyShows(objects)
	if took := time.Since(begin); took < delay {
		c.Errorf("the cache shows the change after %s", took)
	}
}

func eventsAreRepeated(c *cluster) {
	objects := c.objects()
	v := c.newView()
	v.eventuallyShows(objects)
	c.proxy.DuplicateWatches(proxy.Any, 10)
	c.label(objects, "1")
	v.eventuallyShows(objects)
	eventually(c.T, "the cache tells ten updates", func() bool { return v.updates.Load() == 10 })
}

func watchIsRefused(c *cluster) {
	objects := c.objects()
	injection := c.proxy.Inject(proxy.Fault{
		Match:  func(r proxy.Request) bool { return r.Verb == "watch" },
		Times:  2,
		Action: proxy.Status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "slow down", 1),
	})
	v := c.newView()
	v.eventuallyShows(objects)
	if fired := injection.Fired(); fired != 2 {
		c.Errorf("%d watches were refused", fired)
	}
}

func clientIsRefused(c *cluster) {
	objects := c.objects()
	v := c.newView()
	v.eventuallyShows(objects)
	c.proxy.Refuse()
	if err := c.apply("config", "value"); !utilnet.IsConnectionRefused(err) {
		c.Errorf("the client is told %v", err)
	}
	c.label(objects, "1")
	c.must(c.proxy.Accept())
	v.eventuallyShows(objects)
	c.must(c.apply("config", "value"))
}
