// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// eventually fails the test unless a condition holds within a minute.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// ask returns what an address answers to a path, and the code, or 0.
func ask(address, path string) (said string, code int) {
	answer, err := http.Get("http://" + address + path)
	if err != nil {
		return "", 0
	}
	defer func() { _ = answer.Body.Close() }()
	content, _ := io.ReadAll(answer.Body)
	return string(content), answer.StatusCode
}

func TestAReplicaWaitsForTheAPIServer(t *testing.T) {
	server, probes := closedAddress(t), closedAddress(t)
	o := options{leaderElect: true, probeAddress: probes}
	contacted := make(chan error, 1)
	go func() { contacted <- o.contact(t.Context(), &rest.Config{Host: "http://" + server}) }()

	eventually(t, "it is alive", func() bool {
		_, code := ask(probes, "/healthz")
		return code == http.StatusOK
	})
	said, code := ask(probes, "/readyz")
	if code != http.StatusServiceUnavailable || !strings.Contains(said, "waiting for the API server") {
		t.Errorf("/readyz says %d %q", code, said)
	}
	// While the API server starts, it may not know yet who may ask for what.
	refusals := make(chan int, 1)
	refusals <- http.StatusForbidden
	listener, err := net.Listen("tcp", server)
	if err != nil {
		t.Fatal(err)
	}
	api := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		select {
		case refusal := <-refusals:
			w.WriteHeader(refusal)
		default:
			_, _ = io.WriteString(w, `{"major": "1", "minor": "37"}`)
		}
	})}
	go func() { _ = api.Serve(listener) }()
	t.Cleanup(func() { _ = api.Close() })
	select {
	case err := <-contacted:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it still waits for an API server that is there")
	}
	if len(refusals) > 0 {
		t.Error("the API server was never asked while it refused")
	}
	free, err := net.Listen("tcp", probes)
	if err != nil {
		t.Fatalf("the manager cannot serve the probes: %v", err)
	}
	_ = free.Close()
}

func TestAReplicaThatWaitsEndsWhenItIsAskedTo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options{leaderElect: true, probeAddress: "0"}
	time.AfterFunc(100*time.Millisecond, cancel)
	if err := o.contact(ctx, &rest.Config{Host: "http://" + closedAddress(t)}); err != nil {
		t.Error(err)
	}
}

func TestAReplicaThatCannotServeItsProbesDoesNotWait(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	o := options{leaderElect: true, probeAddress: taken.Addr().String()}
	if err := o.contact(t.Context(), &rest.Config{Host: "http://" + closedAddress(t)}); err == nil {
		t.Error("it waits, and nobody can tell that it lives")
	}
}

// A certificate that is none gets no better by waiting.
func TestAReplicaThatCannotEvenAskDoesNotWait(t *testing.T) {
	noCertificate := []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	for name, tls := range map[string]rest.TLSClientConfig{
		"CA":                 {CAData: noCertificate},
		"client certificate": {CertData: noCertificate, KeyData: []byte("no key")},
		"file of the CA":     {CAFile: filepath.Join(t.TempDir(), "none")},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			o := options{leaderElect: true, probeAddress: "0"}
			err := o.contact(ctx, &rest.Config{Host: "https://" + closedAddress(t), TLSClientConfig: tls})
			if err == nil || !strings.Contains(err.Error(), "the kubeconfig cannot be used") {
				t.Errorf("contact = %v", err)
			}
		})
	}
}
