// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"platformapp/api/appstatus"
	"platformapp/controllers"
)

// readRights are the operator's rights to list and watch, as the API server would answer by them.
type readRights struct {
	mu sync.Mutex
	// missing are the resources that it may not read, asked those that it has asked for.
	missing, asked map[string]bool
}

func rightsWithout(resources ...string) *readRights {
	r := &readRights{missing: map[string]bool{}, asked: map[string]bool{}}
	for _, resource := range resources {
		r.missing[resource] = true
	}
	return r
}

// at returns the cluster as the operator sees it.
func (r *readRights) at(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if resource := path.Base(request.URL.Path); r.refuses(request, resource) {
				return refused(resource)
			}
			return next.RoundTrip(request)
		})
	})
	return config
}

func (r *readRights) refuses(request *http.Request, resource string) bool {
	if request.Method != http.MethodGet || !request.URL.Query().Has("resourceVersion") && !request.URL.Query().Has("watch") {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[resource] = true
	return r.missing[resource]
}

func refused(resource string) (*http.Response, error) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New(`User "operator" cannot list it`))
	status := forbidden.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	body, err := json.Marshal(status)
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusForbidden, Header: header, Body: io.NopCloser(bytes.NewReader(body))}, err
}

// giveBack returns all rights.
func (r *readRights) giveBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.missing)
}

// read returns the resources that were asked for.
func (r *readRights) read() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var resources []string
	for resource := range r.asked {
		resources = append(resources, resource)
	}
	slices.Sort(resources)
	return resources
}

// isFilled tells whether a cache is filled, as /readyz asks for it.
func isFilled(ctx context.Context, c cache.Cache) error {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	return failsUnless(c.WaitForCacheSync(ctx), "the caches are not filled")
}

// asIs leaves the options of a manager as they are.
func asIs(*manager.Options) {}

// An optional kind that is there and may not be read is waited for by nobody but who needs it, also at the start, and when
// it comes while the operator runs.
func holdUpNobodyElse(t *testing.T, config *rest.Config) {
	t.Helper()
	user, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	crds := newOptionalCRDs(t, config, "HTTPRoute")
	for name, test := range map[string]struct{ isThere, inNamespaces bool }{
		"at the start":                        {true, false},
		"at the start in several namespaces":  {true, true},
		"when it comes":                       {false, false},
		"when it comes in several namespaces": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := &loop{TB: t, ctx: t.Context(), user: user, namespace: makeNamespace(t, user)}
			crds := crds
			crds.T = t
			crds.install()
			if !test.isThere {
				crds.remove()
			}
			var namespaces []string
			if test.inNamespaces {
				namespaces = []string{l.namespace, makeNamespace(t, user)}
			}
			rights := rightsWithout("httproutes")
			options := controllers.Options{MaxConcurrentReconciles: 2, DiscoveryPeriod: 100 * time.Millisecond}
			mgr, _ := startManager(t, rights.at(config), options, asIs, namespaces...)
			t.Cleanup(rights.giveBack)
			eventually(t, func() error { return isFilled(t.Context(), mgr.GetCache()) })
			if !test.isThere {
				crds.install()
			}
			eventually(t, func() error {
				return failsUnless(slices.Contains(rights.read(), "httproutes"), "nobody tries to read the kind")
			})

			byGateway, byIngress := exposedApp("by-gateway"), exposedApp("by-ingress")
			byIngress.Spec.Expose.HTTPRoute = nil
			l.create(byGateway)
			l.create(byIngress)
			eventually(t, func() error { return l.isRunning(byIngress) })
			l.must(isFilled(t.Context(), mgr.GetCache()))
			eventually(t, func() error {
				l.read(byGateway)
				if err := l.tryRollOut(byGateway.Name); !test.isThere && err != nil {
					return err
				}
				want := appstatus.ReasonExposeUnavailable
				if test.isThere {
					want = appstatus.ReasonApplyFailed
				}
				return failsUnless(reasonOf(byGateway) == want, "it is %s, want %s: %s", reasonOf(byGateway), want, messageOf(byGateway))
			})
			rights.giveBack()
			eventually(t, func() error {
				route := &gatewayv1.HTTPRoute{}
				return user.Get(t.Context(), client.ObjectKeyFromObject(byGateway), route)
			})
		})
	}
}

// A kind that every cluster has is needed by all: without the right to read it the operator lives, is not ready, and goes on
// when the right is there.
func TestARightThatIsMissingAtTheStartIsWaitedFor(t *testing.T) {
	t.Parallel()
	const syncTimeout = 10 * time.Second
	for resource, count := range map[string]int{"pods": 1, "services": 1, "demomicroservices": 2} {
		t.Run(fmt.Sprintf("%s in %d", resource, count), func(t *testing.T) {
			t.Parallel()
			l := newUser(t)
			namespaces := []string{l.namespace}
			for range count - 1 {
				namespaces = append(namespaces, makeNamespace(t, l.user))
			}
			rights := rightsWithout(resource)
			mgr, _ := startManager(t, rights.at(cluster), controllers.Options{MaxConcurrentReconciles: 2}, func(o *manager.Options) {
				o.Controller.CacheSyncTimeout = syncTimeout
			}, namespaces...)
			t.Cleanup(rights.giveBack)
			app := ordersApp()
			l.create(app)
			for start := time.Now(); time.Since(start) < syncTimeout+2*time.Second; {
				if isFilled(t.Context(), mgr.GetCache()) == nil {
					t.Fatal("it counts as filled")
				}
			}
			if l.exists(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: app.Name}}) {
				t.Error("it works on what it does not see")
			}
			rights.giveBack()
			eventually(t, func() error { return isFilled(t.Context(), mgr.GetCache()) })
			eventually(t, func() error { return l.isRunning(app) })
		})
	}
}

// All that every cluster has is read before the operator counts as ready.
func TestNothingThatIsWatchedIsReadAfterTheOperatorIsReady(t *testing.T) {
	t.Parallel()
	l := newUser(t)
	rights := rightsWithout()
	mgr, _ := startManager(t, rights.at(cluster), controllers.Options{MaxConcurrentReconciles: 2}, asIs, l.namespace)
	if !mgr.GetCache().WaitForCacheSync(t.Context()) {
		t.Fatal("the caches do not fill")
	}
	before := rights.read()
	app := ordersApp()
	l.create(app)
	eventually(t, func() error { return l.isRunning(app) })
	after := slices.DeleteFunc(rights.read(), func(resource string) bool {
		return slices.Contains([]string{"httproutes", "routes", "servicemonitors"}, resource)
	})
	if !slices.Equal(before, after) {
		t.Errorf("when it was ready it had read %s, later %s", strings.Join(before, ", "), strings.Join(after, ", "))
	}
}
