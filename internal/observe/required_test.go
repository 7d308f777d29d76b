// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// fakeCache has an informer for each kind that it is asked for.
type fakeCache struct {
	cache.Cache
	mu sync.Mutex
	// informers are the kinds that are watched, absent those that the API server does not have.
	informers map[string]*fakeInformer
	absent    map[string]bool
}

func newFakeCache() *fakeCache {
	return &fakeCache{informers: map[string]*fakeInformer{}, absent: map[string]bool{}}
}

func (c *fakeCache) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (c *fakeCache) GetInformer(_ context.Context, object client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	var options cache.InformerGetOptions
	for _, option := range opts {
		option(&options)
	}
	if options.BlockUntilSynced == nil || *options.BlockUntilSynced {
		return nil, errors.New("it would wait for this kind before the next is watched")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := nameOf(object)
	if c.absent[kind] {
		return nil, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: kind}}
	}
	if c.informers[kind] == nil {
		c.informers[kind] = &fakeInformer{synced: make(chan struct{})}
	}
	return c.informers[kind], nil
}

// fill fills the informers that there are, but for one kind.
func (c *fakeCache) fill(except string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind, informer := range c.informers {
		if kind != except {
			informer.fill()
		}
	}
}

func (c *fakeCache) come(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.absent, kind)
}

// fakeInformer is filled when the test says so.
type fakeInformer struct {
	cache.Informer
	synced chan struct{}
	once   sync.Once
}

func (i *fakeInformer) fill()                                    { i.once.Do(func() { close(i.synced) }) }
func (i *fakeInformer) HasSyncedChecker() toolscache.DoneChecker { return i }
func (i *fakeInformer) Name() string                             { return "fake" }
func (i *fakeInformer) Done() <-chan struct{}                    { return i.synced }

// requiredOf starts a cache with a DaemonSet as the application, until the test ends.
func requiredOf(ctx context.Context, t *testing.T, inner cache.Cache) cache.Cache {
	t.Helper()
	c := newRequiredCache(inner, &appsv1.DaemonSet{})
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the cache ends with %v", err)
		}
	})
	return c
}

// isFilled waits for a cache as /readyz does.
func isFilled(t *testing.T, c cache.Cache) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	return c.WaitForCacheSync(ctx)
}

func TestACacheIsFilledWithAllThatEveryClusterHas(t *testing.T) {
	want := []string{
		"ConfigMap", "DaemonSet", "Deployment", "HorizontalPodAutoscaler", "Ingress", "NetworkPolicy", "PersistentVolumeClaim", "Pod",
		"PodDisruptionBudget", "ReplicaSet", "Service", "ServiceAccount",
	}
	for _, last := range want {
		t.Run(last+" comes last", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := newFakeCache()
				c := requiredOf(t.Context(), t, inner)
				synctest.Wait()
				if diff := cmp.Diff(want, slices.Sorted(maps.Keys(inner.informers))); diff != "" {
					t.Errorf("watched are (-want +got):\n%s", diff)
				}
				inner.fill(last)
				if isFilled(t, c) {
					t.Errorf("it counts as filled without a %s", last)
				}
				inner.fill("")
				if !isFilled(t, c) {
					t.Error("it does not count as filled")
				}
			})
		})
	}
}

func TestACacheThatIsNotStartedIsNotFilled(t *testing.T) {
	inner := newFakeCache()
	c := newRequiredCache(inner)
	if isFilled(t, c) || len(inner.informers) > 0 {
		t.Errorf("it watches %v", slices.Collect(maps.Keys(inner.informers)))
	}
}

// A definition may be installed after the operator.
func TestAKindThatIsNotThereYetIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		logger := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
		inner := newFakeCache()
		inner.absent["DaemonSet"] = true
		c := requiredOf(log.IntoContext(t.Context(), logger), t, inner)
		for range 60 {
			time.Sleep(10 * time.Second)
			inner.fill("")
			if isFilled(t, c) {
				t.Fatal("it counts as filled")
			}
		}
		synctest.Wait()
		told := strings.Join(lines, "\n")
		if n := strings.Count(told, "cannot be watched"); n < 1 || n > 10 {
			t.Errorf("in ten minutes the log says it %d times:\n%s", n, told)
		}
		if !strings.Contains(told, `"kind"="DaemonSet"`) || !strings.Contains(told, "no matches for kind") {
			t.Errorf("the log does not tell the kind and the reason:\n%s", told)
		}
		inner.come("DaemonSet")
		time.Sleep(2 * lastReconnect)
		inner.fill("")
		if !isFilled(t, c) {
			t.Error("it is not watched when it is there")
		}
	})
}

// A cluster refuses what nobody foresaw: it is not asked without a pause.
func TestAKindThatCannotBeWatchedIsNotAskedForWithoutPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &refusingCache{fakeCache: newFakeCache()}
		_ = requiredOf(log.IntoContext(t.Context(), funcr.New(func(string, string) {}, funcr.Options{})), t, inner)
		time.Sleep(time.Minute)
		if n := inner.count(); n > 20 {
			t.Errorf("it is asked for %d times in a minute", n)
		}
	})
}

// refusingCache refuses DaemonSets as what cannot be.
type refusingCache struct {
	*fakeCache
	asked int
}

func (c *refusingCache) GetInformer(
	ctx context.Context, object client.Object, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	if nameOf(object) != "DaemonSet" {
		return c.fakeCache.GetInformer(ctx, object, opts...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return nil, apierrors.NewBadRequest("no such selector")
}

func (c *refusingCache) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}
