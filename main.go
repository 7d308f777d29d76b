// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// The operator that runs EGApps and DemoMicroServices.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // The credential plugins that a kubeconfig may name.
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	clientconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"platformapp/controllers"
	"platformapp/internal/metrics"
	"platformapp/internal/webhook"
)

const (
	// leaderElectionID names the lease; two operators that share it never work at once.
	leaderElectionID = "platformapp.platform.evillgenius.com"
	// leaseDuration is how long a leader that is silent is waited for.
	leaseDuration = 15 * time.Second
	// leaseRetry is how often the leader renews its lease, and a standby looks at it, which client-go stretches by chance to
	// up to 2.2 times as long: a leader that gives its lease back is followed within 3 seconds.
	leaseRetry = time.Second
	// shutdownTimeout is how long the process may take to end what it has begun.
	shutdownTimeout = 20 * time.Second
	// syncTimeout is how long the caches may take to tell whether they are filled.
	syncTimeout = 500 * time.Millisecond
)

func main() {
	if err := run(ctrl.SetupSignalHandler(), os.Args[1:], os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "platformapp:", oneLine(err))
		os.Exit(1)
	}
}

// run runs the operator until the context ends. An error ends it as well.
func run(ctx context.Context, args []string, env func(string) string) error {
	o, err := parseOptions(args, env)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.version {
		fmt.Println(versionLine())
		return nil
	}
	// What is wrong until the manager is made is told in one line. Only an operator that waits for a cluster logs it.
	cluster, err := findCluster(env("KUBECONFIG"))
	if err != nil {
		return err
	}
	ctrl.SetLogger(newLogger(&o.zap))
	klog.SetLogger(ctrl.Log)
	if err := o.checkServers(ctx); err != nil {
		return err
	}
	if err := o.contact(ctx, cluster); err != nil || ctx.Err() != nil {
		return err
	}
	ctrl.Log.Info("starting", "version", version, "go", goruntime.Version())
	apis := controllers.NewAPIs()
	mgr, err := newManager(cluster, o, apis)
	if err != nil {
		return err
	}
	if err := controllers.SetupWithManager(ctx, mgr, apis, o.controllers); err != nil {
		return err
	}
	if err := metrics.Register(ctrlmetrics.Registry, mgr.GetCache(), mgr.Elected()); err != nil {
		return err
	}
	if err := addWebhook(mgr, o, apis); err != nil {
		return err
	}
	return start(ctx, mgr)
}

// start runs the manager until the context ends. A manager whose caches are not filled does
// not heed that; it has begun nothing yet that has to be brought to an end.
func start(ctx context.Context, mgr manager.Manager) error {
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if !isFilled(context.WithoutCancel(ctx), mgr) {
		ctrl.Log.Info("ending before the caches are filled")
		return nil
	}
	return <-ended
}

// findCluster reads the kubeconfig, or inside a cluster what that provides.
func findCluster(kubeconfig string) (*rest.Config, error) {
	for _, path := range filepath.SplitList(kubeconfig) {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("KUBECONFIG names a file that cannot be read: %w", err)
		}
	}
	cluster, err := clientconfig.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster to work on: set KUBECONFIG or --kubeconfig to a kubeconfig file: %w", err)
	}
	return cluster, nil
}

func newManager(cluster *rest.Config, o options, apis *controllers.APIs) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := controllers.AddToScheme(scheme); err != nil {
		return nil, err
	}
	managerOptions := controllers.ManagerOptions(o.namespaces, apis)
	managerOptions.Scheme = scheme
	managerOptions.Metrics = metricsOptions(o)
	managerOptions.WebhookServer = webhook.NewServer(o.webhookCertPath, o.webhookPort)
	managerOptions.HealthProbeBindAddress = o.probeAddress
	managerOptions.LeaderElection = o.leaderElect
	managerOptions.LeaderElectionID = leaderElectionID
	managerOptions.LeaderElectionNamespace = o.leaderElectionNamespace
	managerOptions.LeaderElectionReleaseOnCancel = true
	managerOptions.LeaseDuration = new(leaseDuration)
	managerOptions.RetryPeriod = new(leaseRetry)
	managerOptions.GracefulShutdownTimeout = new(shutdownTimeout)
	if o.leaderElect {
		fence, err := newLeaseFence(cluster)
		if err != nil {
			return nil, err
		}
		cluster = rest.CopyConfig(cluster)
		cluster.Wrap(fence.Wrap)
	}
	mgr, err := manager.New(cluster, managerOptions)
	if err != nil && o.leaderElect && o.leaderElectionNamespace == "" {
		return nil, fmt.Errorf("outside a cluster --leader-elect needs --leader-election-namespace: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("caches", func(request *http.Request) error {
		if !isFilled(request.Context(), mgr) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	})
}

// isFilled tells whether the manager's caches are filled.
func isFilled(ctx context.Context, mgr manager.Manager) bool {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	return mgr.GetCache().WaitForCacheSync(ctx)
}

// oneLine makes the text of an error one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
