// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap/zapcore"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
)

// playMain makes the test program the operator itself, so that its exit code and its
// words are those that a person gets.
const playMain = "PLATFORMAPP_TEST_PLAYS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(playMain) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestOptionsByDefault(t *testing.T) {
	o, err := parseOptions(nil, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]any{
		"metrics-bind-address":        {o.metricsAddress, ":8443"},
		"metrics-secure":              {o.metricsSecure, true},
		"metrics-cert-path":           {o.metricsCertPath, ""},
		"health-probe-bind-address":   {o.probeAddress, ":8081"},
		"leader-elect":                {o.leaderElect, false},
		"leader-election-namespace":   {o.leaderElectionNamespace, ""},
		"max-concurrent-reconciles":   {o.controllers.MaxConcurrentReconciles, 8},
		"WATCH_NAMESPACE":             {o.namespaces, []string(nil)},
		"ENABLE_WEBHOOKS":             {o.webhooks, true},
		"webhook-cert-path":           {o.webhookCertPath, "/tmp/k8s-webhook-server/serving-certs"},
		"webhook-port":                {o.webhookPort, 9443},
		"cluster-wide-app-ids":        {o.controllers.ClusterWideAppIDs, false},
		"allowed-service-accounts":    {o.controllers.AllowedServiceAccounts, []string(nil)},
		"ingress-annotation-prefixes": {o.controllers.IngressAnnotationPrefixes, []string(nil)},
		"service-annotation-prefixes": {o.controllers.ServiceAnnotationPrefixes, []string(nil)},
		"ingress-namespaces": {o.controllers.IngressNamespaces, []string{
			"ingress-nginx", "openshift-ingress", "traefik", "istio-system", "istio-ingress", "envoy-gateway-system",
			"projectcontour", "kong", "haproxy-controller", "nginx-gateway",
		}},
		"monitoring-namespaces": {o.controllers.MonitoringNamespaces, []string{
			"monitoring", "openshift-monitoring", "openshift-user-workload-monitoring", "prometheus", "observability",
		}},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	for _, framework := range v1alpha1.Frameworks() {
		if got := o.controllers.Images.For(framework); got != profile.DefaultImage {
			t.Errorf("default image of %s is %s, want %s", framework, got, profile.DefaultImage)
		}
	}
}

func TestOptionsAsGiven(t *testing.T) {
	o, err := parseOptions([]string{
		"--metrics-bind-address=127.0.0.1:9443", "--metrics-secure=false", "--metrics-cert-path=certs", "--health-probe-bind-address=0",
		"--leader-elect", "--leader-election-namespace=platform", "--max-concurrent-reconciles=3", "--zap-log-level=debug", "--zap-encoder=json",
		"--webhook-cert-path=certs", "--webhook-port=10443", "--cluster-wide-app-ids", "--allowed-service-accounts=team-a/reader, */builder",
		"--ingress-annotation-prefixes=nginx.ingress.kubernetes.io/proxy-,example.com/", "--ingress-namespaces= edge ,edge", "--monitoring-namespaces=",
		"--service-annotation-prefixes=traefik.io/service.,example.org/",
	}, environment(map[string]string{
		"ENABLE_WEBHOOKS":      "false",
		"WATCH_NAMESPACE":      " team-b, team-a,,team-b ",
		"RELATED_IMAGE_JAVA":   "registry.example.com/base/java:21",
		"RELATED_IMAGE_PYTHON": "registry.example.com/base/python:3.14",
		"RELATED_IMAGE_GO":     "registry.example.com/base/go:1.26",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]any{
		"metrics-bind-address":        {o.metricsAddress, "127.0.0.1:9443"},
		"metrics-secure":              {o.metricsSecure, false},
		"metrics-cert-path":           {o.metricsCertPath, "certs"},
		"health-probe-bind-address":   {o.probeAddress, "0"},
		"leader-elect":                {o.leaderElect, true},
		"leader-election-namespace":   {o.leaderElectionNamespace, "platform"},
		"max-concurrent-reconciles":   {o.controllers.MaxConcurrentReconciles, 3},
		"zap-log-level":               {o.zap.Level.Enabled(zapcore.DebugLevel), true},
		"WATCH_NAMESPACE":             {o.namespaces, []string{"team-a", "team-b"}},
		"ENABLE_WEBHOOKS":             {o.webhooks, false},
		"webhook-cert-path":           {o.webhookCertPath, "certs"},
		"webhook-port":                {o.webhookPort, 10443},
		"cluster-wide-app-ids":        {o.controllers.ClusterWideAppIDs, true},
		"allowed-service-accounts":    {o.controllers.AllowedServiceAccounts, []string{"team-a/reader", "*/builder"}},
		"ingress-annotation-prefixes": {o.controllers.IngressAnnotationPrefixes, []string{"nginx.ingress.kubernetes.io/proxy-", "example.com/"}},
		"service-annotation-prefixes": {o.controllers.ServiceAnnotationPrefixes, []string{"traefik.io/service.", "example.org/"}},
		"ingress-namespaces":          {o.controllers.IngressNamespaces, []string{"edge"}},
		"monitoring-namespaces":       {o.controllers.MonitoringNamespaces, []string(nil)},
		"RELATED_IMAGE_*": {o.controllers.Images, profile.Images{
			"java": "registry.example.com/base/java:21", "python": "registry.example.com/base/python:3.14", "go": "registry.example.com/base/go:1.26",
		}},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestBadOptionsAreNamed(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		env  map[string]string
		want []string
	}{
		{"an unknown flag", []string{"--replicas=3"}, nil, []string{"-replicas"}},
		{"no number", []string{"--max-concurrent-reconciles=many"}, nil, []string{"max-concurrent-reconciles", `"many"`}},
		{"an image that cannot be pulled", nil, map[string]string{"RELATED_IMAGE_JAVA": "docker://java:21"}, []string{"RELATED_IMAGE_JAVA", "docker://java:21"}},
		{"no reconciles", []string{"--max-concurrent-reconciles=0"}, nil, []string{"max-concurrent-reconciles", "at least 1", "0"}},
		{"reconciles below zero", []string{"--max-concurrent-reconciles=-1"}, nil, []string{"max-concurrent-reconciles", "at least 1", "-1"}},
		{"no truth value", []string{"--leader-elect=perhaps"}, nil, []string{"leader-elect", `"perhaps"`}},
		{"a log level", []string{"--zap-log-level=loud"}, nil, []string{"zap-log-level", `"loud"`}},
		{"a flag without its value", []string{"--metrics-bind-address"}, nil, []string{"metrics-bind-address"}},
		{"an argument", []string{"--leader-elect", "true"}, nil, []string{"unexpected argument", `"true"`, "--help"}},
		{"a namespace", nil, map[string]string{"WATCH_NAMESPACE": "team-a,Team_B"}, []string{"WATCH_NAMESPACE", `"Team_B"`}},
		{"no truth value in the environment", nil, map[string]string{"ENABLE_WEBHOOKS": "no"}, []string{"ENABLE_WEBHOOKS", "true or false", `"no"`}},
		{"a port out of range", []string{"--webhook-port=70000"}, nil, []string{"webhook-port", "65535", "70000"}},
		{"port 0", []string{"--webhook-port=0"}, nil, []string{"webhook-port", "from 1"}},
		{"an account without its namespace", []string{"--allowed-service-accounts=reader"}, nil, []string{"allowed-service-accounts", `"reader"`, "namespace/name"}},
		{"an account of a bad namespace", []string{"--allowed-service-accounts=Team_A/reader"}, nil, []string{"allowed-service-accounts", `"Team_A"`}},
		{"every account", []string{"--allowed-service-accounts=*/*"}, nil, []string{"allowed-service-accounts", `"*"`}},
		{"a bad namespace of ingress controllers", []string{"--ingress-namespaces=a,B"}, nil, []string{"ingress-namespaces", `"B"`}},
		{"a bad namespace of Prometheus", []string{"--monitoring-namespaces=*"}, nil, []string{"monitoring-namespaces", `"*"`}},
		{"half a domain of annotations", []string{"--ingress-annotation-prefixes=nginx"}, nil, []string{"ingress-annotation-prefixes", `"nginx"`, "slash"}},
		{"no domain of annotations", []string{"--ingress-annotation-prefixes=/proxy"}, nil, []string{"ingress-annotation-prefixes", `"/proxy"`}},
		{"half a domain of annotations of a Service", []string{"--service-annotation-prefixes=traefik"}, nil, []string{"service-annotation-prefixes", `"traefik"`, "slash"}},
		{"what cannot be in a key", []string{"--ingress-annotation-prefixes=example.com/a b"}, nil, []string{"ingress-annotation-prefixes", `"example.com/a b"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parseOptions(test.args, environment(test.env))
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error %q does not say %s", err, part)
				}
			}
		})
	}
}

func TestHelpNamesEachFlagAndIsNoFailure(t *testing.T) {
	for _, flagName := range []string{"-h", "--help"} {
		stdout, stderr, code := runOperator(t, nil, flagName)
		if code != 0 || stderr != "" {
			t.Errorf("%s ends with %d and stderr %q, want 0 and nothing", flagName, code, stderr)
		}
		for _, want := range []string{
			"metrics-bind-address", "metrics-secure", "metrics-cert-path", "health-probe-bind-address", "leader-elect",
			"leader-election-namespace", "max-concurrent-reconciles", "kubeconfig", "zap-log-level",
			"webhook-cert-path", "webhook-port", "cluster-wide-app-ids", "allowed-service-accounts",
			"ingress-annotation-prefixes", "service-annotation-prefixes", "ingress-namespaces", "monitoring-namespaces",
		} {
			if !strings.Contains(stdout, "-"+want) {
				t.Errorf("the help of %s does not name -%s:\n%s", flagName, want, stdout)
			}
		}
	}
}

func TestVersionNeedsNoCluster(t *testing.T) {
	stdout, stderr, code := runOperator(t, nil, "--version")
	if want := "platformapp devel " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + "\n"; stdout != want || stderr != "" || code != 0 {
		t.Errorf("the output is %q, %q, the exit code %d; want %q", stdout, stderr, code, want)
	}
}

func TestBadInputEndsWithOneClearLine(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		env  []string
		want []string
	}{
		{"an unknown flag", []string{"--replicas=3"}, nil, []string{"-replicas"}},
		{"an argument", []string{"up"}, nil, []string{`"up"`}},
		{"a namespace", nil, []string{"WATCH_NAMESPACE=*"}, []string{"WATCH_NAMESPACE", `"*"`}},
		{"no kubeconfig", nil, nil, []string{"KUBECONFIG"}},
		{"a kubeconfig file that is not there", nil, []string{"KUBECONFIG=" + filepath.Join(t.TempDir(), "none")}, []string{"KUBECONFIG"}},
		{"a file of --kubeconfig that is not there", []string{"--kubeconfig=" + filepath.Join(t.TempDir(), "none")}, nil, []string{"no such file"}},
		{"a kubeconfig file that is none", nil, []string{"KUBECONFIG=" + kubeconfig(t, "a: [")}, []string{"KUBECONFIG"}},
		{"an API server that is not there", nil, []string{"KUBECONFIG=" + kubeconfigOf(t, closedAddress(t))}, []string{"cannot be reached", "connection refused"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			stdout, stderr, code := runOperator(t, test.env, test.args...)
			if code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if stdout != "" {
				t.Errorf("stdout is %q, want nothing", stdout)
			}
			if !strings.HasPrefix(stderr, "platformapp: ") || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
				t.Errorf("stderr is not one line that begins with the program's name:\n%s", stderr)
			}
			for _, part := range test.want {
				if !strings.Contains(stderr, part) {
					t.Errorf("%q does not say %s", stderr, part)
				}
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"one line":                   "one line",
		"two\nlines":                 "two lines",
		"  a\r\n\tlist:\n\t* one\n ": "a list: * one",
		"":                           "",
	} {
		if got := oneLine(errors.New(text)); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", text, got, want)
		}
	}
	joined := oneLine(errors.Join(errors.New("first"), errors.New("second")))
	if joined != "first second" {
		t.Errorf("joined errors give %q, want both in one line", joined)
	}
}

// runOperator runs main in a process of its own, with no cluster but the one that env names.
func runOperator(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = append([]string{playMain + "=1", "HOME=" + t.TempDir()}, env...)
	var out, errOut bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = nil, &out, &errOut
	if err := command.Run(); err != nil {
		if _, ended := errors.AsType[*exec.ExitError](err); !ended {
			t.Fatal(err)
		}
	}
	return out.String(), errOut.String(), command.ProcessState.ExitCode()
}

func kubeconfig(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func kubeconfigOf(t *testing.T, address string) string {
	t.Helper()
	return kubeconfig(t, `apiVersion: v1
kind: Config
clusters:
- {name: c, cluster: {server: "http://`+address+`"}}
contexts:
- {name: c, context: {cluster: c}}
current-context: c
`)
}

// closedAddress returns an address that refuses connections.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func(c io.Closer) { _ = c.Close() }(listener)
	return listener.Addr().String()
}
