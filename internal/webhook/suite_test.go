// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"platformapp/controllers"
	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
	"platformapp/internal/webhook"
)

// environment is an API server that asks the webhook of config/webhook, which the tests
// serve in turn, each for a namespace of its own.
var (
	environment *envtest.Environment
	scheme      = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	code, err := runWithControlPlane(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithControlPlane(m *testing.M) (code int, err error) {
	ctrl.SetLogger(logr.Discard())
	if err := controllers.AddToScheme(scheme); err != nil {
		return 0, err
	}
	assets, err := localcluster.NewAssets(context.Background(), os.Stderr)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, assets.Remove(context.Background())) }()
	environment = testutil.NewEnvironment(assets.Dir, filepath.Join("..", "..", "config", "crd", "bases"))
	environment.WebhookInstallOptions.Paths = []string{filepath.Join("..", "..", "config", "webhook", "manifests.yaml")}
	if _, err := environment.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	return m.Run(), nil
}

// scene is a namespace with an operator that serves the webhook, or does not.
type scene struct {
	*testing.T
	namespace string
	user      client.Client
	warnings  *warnings
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, warnings: &warnings{}}
	config := rest.CopyConfig(environment.Config)
	config.WarningHandler = s.warnings
	config.QPS = -1
	var err error
	if s.user, err = client.New(config, client.Options{Scheme: scheme, FieldOwner: "test"}); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-"}}
	s.must(s.user.Create(t.Context(), namespace))
	s.namespace = namespace.Name
	return s
}

// start runs the operator as main does, until stop is called or the test ends.
func (s *scene) start(withWebhook bool) (stop func()) {
	s.Helper()
	served := environment.WebhookInstallOptions
	apis := controllers.NewAPIs()
	options := controllers.ManagerOptions([]string{s.namespace}, apis)
	options.Scheme = scheme
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	options.Controller.SkipNameValidation = new(true)
	options.WebhookServer = webhook.NewServer(served.LocalServingCertDir, served.LocalServingPort)
	mgr, err := manager.New(environment.Config, options)
	s.must(err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.Context()))
	choices := controllers.Options{MaxConcurrentReconciles: 4}
	s.must(controllers.SetupWithManager(ctx, mgr, apis, choices))
	if withWebhook {
		s.must(webhook.SetupWithManager(mgr, webhook.Options{
			Translate: choices.Options, Namespaces: []string{s.namespace}, Platform: apis.Platform, Duplicate: controllers.Duplicate(mgr.GetCache(), choices),
		}))
	}
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-stopped; err != nil {
			s.Errorf("the operator ends with %v", err)
		}
	})
	s.Cleanup(stop)
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		s.Fatal("the caches do not fill")
	}
	if withWebhook {
		s.eventually(func() error { return mgr.GetWebhookServer().StartedChecker()(nil) })
		s.eventually(func() error {
			if _, known := apis.Platform(); !known {
				return errors.New("it is not known yet which APIs the cluster has")
			}
			return nil
		})
	}
	return stop
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// eventually waits until check returns nil, for what happens beside the test.
func (s *scene) eventually(check func() error) {
	s.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	s.Fatal(err)
}

// warnings keeps what the API server warns of.
type warnings struct {
	mu   sync.Mutex
	last []string
}

// HandleWarningHeader keeps one warning.
func (w *warnings) HandleWarningHeader(_ int, _, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = append(w.last, message)
}

// take returns the warnings since it was last called.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.last = nil }()
	return w.last
}
