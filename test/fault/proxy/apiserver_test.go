// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
	"platformapp/test/fault/proxy"
)

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// TestAPIServer runs the tests with a real API server, and the clients and caches that an operator has.
func TestAPIServer(t *testing.T) {
	config := startAPIServer(t)
	for name, test := range map[string]func(*cluster){
		"every verb":                        everyVerb,
		"the answer of an apply is lost":    answerIsLost,
		"another is faster":                 anotherIsFaster,
		"errors in the client's encoding":   errorsInEncoding,
		"two faults":                        twoFaults,
		"the cache is frozen":               cacheIsFrozen,
		"the cache misses events":           cacheMissesEvents,
		"the cache does not fill":           cacheDoesNotFill,
		"watches are cut":                   watchesAreCut,
		"watches end":                       watchesEnd,
		"events are delayed":                eventsAreDelayed,
		"events are repeated":               eventsAreRepeated,
		"the begin of a watch is refused":   watchIsRefused,
		"the client is refused for a while": clientIsRefused,
	} {
		for transport, opts := range map[string][]proxy.Option{"HTTP": nil, "TLS": {proxy.WithTLS()}} {
			t.Run(transport+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(newCluster(t, config, opts...))
			})
		}
	}
}

// startAPIServer starts an API server with our kinds for the time of the test.
func startAPIServer(t *testing.T) *rest.Config {
	t.Helper()
	assets, err := localcluster.NewAssets(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := assets.Remove(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	environment := testutil.NewEnvironment(assets.Dir, filepath.Join("..", "..", "..", "config", "crd", "bases"))
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	config.QPS = -1
	return config
}

// cluster is a namespace of a real API server with a Proxy before it.
type cluster struct {
	*testing.T
	proxy     *proxy.Proxy
	scheme    *runtime.Scheme
	namespace string
	user      client.Client // past the Proxy
	operator  client.Client // through the Proxy
}

func newCluster(t *testing.T, config *rest.Config, opts ...proxy.Option) *cluster {
	t.Helper()
	c := &cluster{T: t, scheme: runtime.NewScheme()}
	c.must(clientgoscheme.AddToScheme(c.scheme))
	c.must(v1alpha1.AddToScheme(c.scheme))
	var err error
	c.proxy, err = proxy.Start(config, opts...)
	c.must(err)
	t.Cleanup(c.proxy.Close)
	c.user, err = client.New(config, client.Options{Scheme: c.scheme, FieldOwner: "user"})
	c.must(err)
	c.operator, err = client.New(c.proxy.Config(), client.Options{Scheme: c.scheme, FieldOwner: "operator"})
	c.must(err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-"}}
	c.must(c.user.Create(t.Context(), namespace))
	c.namespace = namespace.Name
	return c
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.namespace}}
}

func (c *cluster) apply(name, value string) error {
	return c.operator.Apply(c.Context(), corev1ac.ConfigMap(name, c.namespace).WithData(map[string]string{"key": value}))
}

// newEGApp returns an application, of which a watch is in JSON.
func (c *cluster) newEGApp(name string) *v1alpha1.EGApp {
	return &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.namespace},
		Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev},
	}
}

// keys are the keys of the requests for resources since the index.
func (c *cluster) keys(index int) []string {
	var keys []string
	for _, request := range c.proxy.RequestsSince(index) {
		if request.Verb != "" {
			keys = append(keys, request.Key())
		}
	}
	return keys
}

func everyVerb(c *cluster) {
	ctx := c.Context()
	app := c.newEGApp("app")
	c.must(c.operator.Create(ctx, app))
	config := c.configMap("config")
	c.must(c.operator.Create(ctx, config))
	c.must(c.operator.Get(ctx, client.ObjectKeyFromObject(config), config))
	c.must(c.operator.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(c.namespace)))
	config.Data = map[string]string{"a": "b"}
	c.must(c.operator.Update(ctx, config))
	c.must(c.operator.Patch(ctx, config, client.RawPatch(client.Merge.Type(), []byte(`{"data":{"a":"c"}}`))))
	c.must(c.apply("applied", "value"))
	before := app.DeepCopy()
	app.Status.Phase = "Running"
	c.must(c.operator.Status().Patch(ctx, app, client.MergeFrom(before)))
	c.must(c.operator.Delete(ctx, config))
	c.must(c.operator.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(c.namespace)))
	want := []string{
		"create egapps.egplatform.platform.evillgenius.com", "create configmaps", "get configmaps", "list configmaps",
		"update configmaps", "patch configmaps", "apply configmaps", "patch egapps.egplatform.platform.evillgenius.com/status",
		"delete configmaps", "deletecollection configmaps",
	}
	if got := c.keys(0); !slices.Equal(got, want) {
		c.Errorf("requests are\n%q, want\n%q", got, want)
	}
}

func answerIsLost(c *cluster) {
	c.proxy.Inject(proxy.Fault{Match: proxy.Matches("apply configmaps"), Action: proxy.ResetAfter()})
	if err := c.apply("config", "value"); !utilnet.IsConnectionReset(err) {
		c.Errorf("the client is told %v", err)
	}
	config := c.configMap("config")
	c.must(c.user.Get(c.Context(), client.ObjectKeyFromObject(config), config))
	if writes := c.proxy.Writes(); len(writes) != 1 || writes[0].Code != http.StatusCreated || writes[0].Name != "config" {
		c.Errorf("writes are %+v", writes)
	}
}

func anotherIsFaster(c *cluster) {
	c.proxy.Inject(proxy.Fault{Match: proxy.Matches("create configmaps"), Action: proxy.Before(func() {
		c.must(c.user.Create(c.Context(), c.configMap("config")))
	})})
	if err := c.operator.Create(c.Context(), c.configMap("config")); !apierrors.IsAlreadyExists(err) {
		c.Errorf("the client is told %v", err)
	}
	var found error
	c.proxy.Inject(proxy.Fault{Match: proxy.Matches("create configmaps"), Action: proxy.After(func() {
		found = c.user.Get(c.Context(), client.ObjectKey{Namespace: c.namespace, Name: "second"}, &corev1.ConfigMap{})
	})})
	c.must(c.operator.Create(c.Context(), c.configMap("second")))
	c.must(found)
}

func errorsInEncoding(c *cluster) {
	for _, object := range []client.Object{c.configMap("config"), c.newEGApp("app")} { // protobuf, JSON
		c.proxy.Inject(proxy.Fault{
			Match:  func(r proxy.Request) bool { return r.Verb == "create" },
			Action: proxy.Status(http.StatusConflict, metav1.StatusReasonConflict, "changed meanwhile", 0),
		})
		if err := c.operator.Create(c.Context(), object); !apierrors.IsConflict(err) || err.Error() != "changed meanwhile" {
			c.Errorf("the client is told %v", err)
		}
	}
}

func twoFaults(c *cluster) {
	isApply := proxy.Matches("apply configmaps")
	failed := proxy.Status(http.StatusInternalServerError, metav1.StatusReasonInternalError, "boom", 0)
	c.proxy.Inject(proxy.Fault{Match: isApply, Action: failed})
	c.proxy.Inject(proxy.Fault{Match: isApply, Skip: 1, Action: proxy.Reset()})
	if err := c.apply("config", "1"); !apierrors.IsInternalError(err) {
		c.Errorf("the client is told %v", err)
	}
	if err := c.apply("config", "2"); !utilnet.IsConnectionReset(err) {
		c.Errorf("the client is told %v", err)
	}
	c.must(c.apply("config", "3"))
}
