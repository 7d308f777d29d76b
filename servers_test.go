// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
)

// serveMetrics serves the metrics as the operator does with these arguments, for an API server that knows nobody, and
// returns their address.
func serveMetrics(t *testing.T, args ...string) string {
	t.Helper()
	ports, err := localcluster.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0]))
	o, err := parseOptions(append(args, "--metrics-bind-address="+address), environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	apiServer := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(apiServer.Close)
	server, err := metricsserver.NewServer(metricsOptions(o), &rest.Config{Host: apiServer.URL}, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	return address
}

// S11
func TestCertificateOfTheMetricsIsReplacedWithoutARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testutil.MountCertificate(t, dir, "first")
	address := serveMetrics(t, "--metrics-cert-path="+dir)
	testutil.AwaitCertificate(t, address, "first")
	testutil.MountCertificate(t, dir, "second")
	testutil.AwaitCertificate(t, address, "second")
}

// S10, S11. Without a certificate one is made, and nothing is served but the metrics, to nobody whom the API server does
// not know.
func TestMetricsAreSecureByDefault(t *testing.T) {
	t.Parallel()
	address := serveMetrics(t, "--metrics-cert-path="+t.TempDir())
	testutil.AwaitCertificate(t, address, "localhost")
	testutil.CheckTLS(t, address)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for path, want := range map[string]int{
		"/metrics":                     http.StatusUnauthorized,
		"/debug/pprof/":                http.StatusNotFound,
		"/debug/pprof/heap":            http.StatusNotFound,
		"/debug/pprof/profile?seconds": http.StatusNotFound,
		"/debug/vars":                  http.StatusNotFound,
		"/":                            http.StatusNotFound,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s is answered %d, want %d", path, answer.StatusCode, want)
		}
	}
}
