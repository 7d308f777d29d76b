// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"go.uber.org/zap/zapcore"
	clientconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/controllers"
)

// Where ingress controllers, gateways and routers, and where Prometheus are usually
// installed. A network policy lets them in where an application needs them.
const (
	defaultIngressNamespaces = "ingress-nginx,openshift-ingress,traefik,istio-system,istio-ingress,envoy-gateway-system," +
		"projectcontour,kong,haproxy-controller,nginx-gateway"
	defaultMonitoringNamespaces = "monitoring,openshift-monitoring,openshift-user-workload-monitoring,prometheus,observability"
)

// defaultWebhookCertPath is where OLM mounts the webhook's certificate, and where
// controller-runtime looks for one.
const defaultWebhookCertPath = "/tmp/k8s-webhook-server/serving-certs"

// options are the flags and the environment.
type options struct {
	metricsAddress, metricsCertPath string
	metricsSecure                   bool
	probeAddress                    string
	webhooks                        bool
	webhookCertPath                 string
	webhookPort                     int
	leaderElect                     bool
	leaderElectionNamespace         string
	namespaces                      []string
	controllers                     controllers.Options
	zap                             zap.Options
	version                         bool
}

func parseOptions(args []string, env func(string) string) (options, error) {
	var o options
	o.controllers.Images = map[v1alpha1.Framework]string{
		v1alpha1.FrameworkJava:   env("RELATED_IMAGE_JAVA"),
		v1alpha1.FrameworkPython: env("RELATED_IMAGE_PYTHON"),
		v1alpha1.FrameworkGo:     env("RELATED_IMAGE_GO"),
	}
	o.zap.TimeEncoder = zapcore.RFC3339TimeEncoder
	// Where the logger was called says nothing about an error of a server far away.
	o.zap.StacktraceLevel = zapcore.PanicLevel

	flags := flag.NewFlagSet("platformapp", flag.ContinueOnError)
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "The address that metrics are served at; 0 serves none.")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", true, "Serve metrics over HTTPS, to whom the cluster allows it. False serves them to anybody over HTTP.")
	flags.StringVar(&o.metricsCertPath, "metrics-cert-path", "", "The directory of tls.crt and tls.key for the metrics. Left out, the certificate is made at the start.")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "The address that /healthz and /readyz are served at; 0 serves none.")
	flags.StringVar(&o.webhookCertPath, "webhook-cert-path", defaultWebhookCertPath, "The directory of tls.crt and tls.key for the webhook. With neither file there, or with ENABLE_WEBHOOKS=false in the environment, the webhook is off.")
	flags.IntVar(&o.webhookPort, "webhook-port", 9443, "The port that the webhook is served at.")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "Work only while no other operator with this flag does.")
	flags.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "", "The namespace of the lease. Left out, it is the one that the operator runs in.")
	flags.IntVar(&o.controllers.MaxConcurrentReconciles, "max-concurrent-reconciles", 8, "How many applications of a kind are worked on at once.")
	flags.BoolVar(&o.controllers.ClusterWideAppIDs, "cluster-wide-app-ids", false, "An appId is unique in its environment in the whole cluster, not only in its namespace.")
	flags.Var(newList(&o.controllers.AllowedServiceAccounts, isServiceAccount, ""), "allowed-service-accounts", "The ServiceAccounts that EGApps may run as without the annotation on them: namespace/name or */name, separated by commas.")
	flags.Var(newList(&o.controllers.IngressAnnotationPrefixes, isAnnotationPrefix, ""), "ingress-annotation-prefixes", "Beginnings of annotation keys, separated by commas, that spec.expose.ingress.annotations may have beside cert-manager.io/ and external-dns.alpha.kubernetes.io/.")
	flags.Var(newList(&o.controllers.ServiceAnnotationPrefixes, isAnnotationPrefix, ""), "service-annotation-prefixes", "Beginnings of annotation keys, separated by commas, that spec.service.annotations may have beside those of well-known load balancers, external-dns and Prometheus.")
	flags.Var(newList(&o.controllers.IngressNamespaces, isNamespace, defaultIngressNamespaces), "ingress-namespaces", "The namespaces, separated by commas, of the controllers that expose applications; network policies let them in.")
	flags.Var(newList(&o.controllers.MonitoringNamespaces, isNamespace, defaultMonitoringNamespaces), "monitoring-namespaces", "The namespaces, separated by commas, of the Prometheus that scrapes applications; network policies let it in.")
	flags.BoolVar(&o.version, "version", false, "Print the version and end.")
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
	return o, o.check(env)
}

// check reads the rest of the environment and returns the first option that is of no use.
func (o *options) check(env func(string) string) error {
	if err := o.controllers.Check(); err != nil {
		return err
	}
	if o.webhookPort < 1 || o.webhookPort > 65535 {
		return fmt.Errorf("--webhook-port must be a port from 1 to 65535, not %d", o.webhookPort)
	}
	o.webhooks = true
	if value := env("ENABLE_WEBHOOKS"); value != "" {
		enabled, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("ENABLE_WEBHOOKS must be true or false, not %q", value)
		}
		o.webhooks = enabled
	}
	var err error
	if o.namespaces, err = controllers.ParseNamespaces(env("WATCH_NAMESPACE")); err != nil {
		return fmt.Errorf("WATCH_NAMESPACE: %w", err)
	}
	return nil
}
