// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// The operator that runs EGApps and DemoMicroServices.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // The credential plugins that a kubeconfig may name.
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	clientconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/controllers"
)

const (
	// leaderElectionID names the lease; two operators that share it never work at once.
	leaderElectionID = "platformapp.platform.evillgenius.com"
	// contactTimeout is how long the API server may take to answer at the start.
	contactTimeout = 10 * time.Second
	// shutdownTimeout is how long the process may take to end what it has begun.
	shutdownTimeout = 20 * time.Second
	// syncTimeout is how long a readiness request waits for the caches.
	syncTimeout = 500 * time.Millisecond
)

func main() {
	if err := run(ctrl.SetupSignalHandler(), os.Args[1:], os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "platformapp:", oneLine(err))
		os.Exit(1)
	}
}

// options are the flags and the environment.
type options struct {
	metricsAddress, metricsCertPath string
	metricsSecure                   bool
	probeAddress                    string
	leaderElect                     bool
	leaderElectionNamespace         string
	namespaces                      []string
	controllers                     controllers.Options
	zap                             zap.Options
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
	// Until the cluster is found there is no log: what is wrong is told in one line.
	cluster, err := findCluster(env("KUBECONFIG"))
	if err != nil {
		return err
	}
	if err := contact(cluster); err != nil {
		return err
	}
	if err := checkAddress(ctx, o.metricsAddress); err != nil {
		return err
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.zap)))
	klog.SetLogger(ctrl.Log)
	mgr, err := newManager(cluster, o)
	if err != nil {
		return err
	}
	if err := controllers.SetupWithManager(ctx, mgr, o.controllers); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func parseOptions(args []string, env func(string) string) (options, error) {
	o := options{controllers: controllers.Options{Images: map[v1alpha1.Framework]string{
		v1alpha1.FrameworkJava:   env("RELATED_IMAGE_JAVA"),
		v1alpha1.FrameworkPython: env("RELATED_IMAGE_PYTHON"),
		v1alpha1.FrameworkGo:     env("RELATED_IMAGE_GO"),
	}}}
	o.zap.TimeEncoder = zapcore.RFC3339TimeEncoder

	flags := flag.NewFlagSet("platformapp", flag.ContinueOnError)
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "The address that metrics are served at; 0 serves none.")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", true, "Serve metrics over HTTPS, to whom the cluster allows it. False serves them to anybody over HTTP.")
	flags.StringVar(&o.metricsCertPath, "metrics-cert-path", "", "The directory of tls.crt and tls.key for the metrics. Left out, the certificate is made at the start.")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "The address that /healthz and /readyz are served at; 0 serves none.")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "Work only while no other operator with this flag does.")
	flags.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "", "The namespace of the lease. Left out, it is the one that the operator runs in.")
	flags.IntVar(&o.controllers.MaxConcurrentReconciles, "max-concurrent-reconciles", 8, "How many applications of a kind are worked on at once.")
	clientconfig.RegisterFlags(flags)
	o.zap.BindFlags(flags)

	quiet := strings.Builder{}
	flags.SetOutput(&quiet)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Print(quiet.String())
		}
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: all options are flags, see --help", flags.Arg(0))
	}
	if err := o.controllers.Check(); err != nil {
		return o, err
	}
	var err error
	if o.namespaces, err = controllers.ParseNamespaces(env("WATCH_NAMESPACE")); err != nil {
		return o, fmt.Errorf("WATCH_NAMESPACE: %w", err)
	}
	return o, nil
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

// checkAddress tries the address of the metrics, which are served only after the caches
// have begun to fill: too late for a clear line when it is taken.
func checkAddress(ctx context.Context, address string) error {
	if address == "0" {
		return nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("--metrics-bind-address: %w", err)
	}
	return listener.Close()
}

// contact asks the API server for its version, so that a cluster that is not there is
// told at once rather than after the caches have waited for it.
func contact(cluster *rest.Config) error {
	probe := rest.CopyConfig(cluster)
	probe.Timeout = contactTimeout
	c, err := discovery.NewDiscoveryClientForConfig(probe)
	if err != nil {
		return fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	_, err = c.ServerVersion()
	switch status := apierrors.APIStatus(nil); {
	case errors.As(err, &status):
		return fmt.Errorf("the API server at %s does not let the operator in: %w", cluster.Host, err)
	case err != nil:
		return fmt.Errorf("the API server at %s cannot be reached: %w", cluster.Host, err)
	}
	return nil
}

func newManager(cluster *rest.Config, o options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, devopsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	managerOptions := controllers.ManagerOptions(o.namespaces)
	managerOptions.Scheme = scheme
	managerOptions.Metrics = metricsOptions(o)
	managerOptions.HealthProbeBindAddress = o.probeAddress
	managerOptions.LeaderElection = o.leaderElect
	managerOptions.LeaderElectionID = leaderElectionID
	managerOptions.LeaderElectionNamespace = o.leaderElectionNamespace
	managerOptions.LeaderElectionReleaseOnCancel = true
	managerOptions.GracefulShutdownTimeout = new(shutdownTimeout)
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
		ctx, cancel := context.WithTimeout(request.Context(), syncTimeout)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	})
}

func metricsOptions(o options) metricsserver.Options {
	m := metricsserver.Options{BindAddress: o.metricsAddress, SecureServing: o.metricsSecure, CertDir: o.metricsCertPath}
	if o.metricsSecure {
		m.FilterProvider = filters.WithAuthenticationAndAuthorization
		// HTTP/2 is off because of its rapid reset weakness (CVE-2023-44487).
		m.TLSOpts = []func(*tls.Config){func(c *tls.Config) {
			c.MinVersion = tls.VersionTLS12
			c.NextProtos = []string{"http/1.1"}
		}}
	}
	return m
}

// oneLine makes the text of an error one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
