// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// contactTimeout is how long the API server may take to answer at the start.
	contactTimeout = 10 * time.Second
	// contactRetry is the time between two attempts of a replica that waits.
	contactRetry = 2 * time.Second
	// waiting is what the log, with the reason, and /readyz say meanwhile.
	waiting = "waiting for the API server"
)

// contact returns when the API server has answered.
//
// An operator that is started by hand tells at once that the API server is not there. One of
// replicas waits for it, alive and not ready: when the API server goes, each of them ends
// when it cannot hold its lease, is started again, and would end again and again until
// the time between two starts is five minutes, which the API server then has to be back for.
// A configuration that no client can be made of is told at once in either case.
// It returns nil as well when the context ends while it waits.
func (o *options) contact(ctx context.Context, cluster *rest.Config) error {
	probe := rest.CopyConfig(cluster)
	probe.Timeout = contactTimeout
	server, err := discovery.NewDiscoveryClientForConfig(probe)
	if err != nil {
		return fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	if err := askVersion(server, cluster.Host); err == nil || !o.leaderElect {
		return err
	}
	stop, err := o.serveLiveness(ctx)
	if err != nil {
		return fmt.Errorf("--health-probe-bind-address: %w", err)
	}
	defer stop()
	for last := ""; ctx.Err() == nil; {
		err := askVersion(server, cluster.Host)
		if err == nil {
			return nil
		}
		if reason := oneLine(err); reason != last {
			ctrl.Log.Info(waiting, "reason", reason)
			last = reason
		}
		select {
		case <-ctx.Done():
		case <-time.After(contactRetry):
		}
	}
	return nil
}

// askVersion asks the API server for its version, so that a cluster that is not there is
// told at once rather than after the caches have waited for it.
func askVersion(server discovery.ServerVersionInterface, host string) error {
	_, err := server.ServerVersion()
	switch status := apierrors.APIStatus(nil); {
	case errors.As(err, &status):
		return fmt.Errorf("the API server at %s does not let the operator in: %w", host, err)
	case err != nil:
		return fmt.Errorf("the API server at %s cannot be reached: %w", host, err)
	}
	return nil
}

// serveLiveness serves the probes of an operator that lives and is not ready, until it is
// stopped.
func (o *options) serveLiveness(ctx context.Context) (stop func(), err error) {
	if o.probeAddress == "0" {
		return func() {}, nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.probeAddress)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, waiting, http.StatusServiceUnavailable)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: contactTimeout}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	return func() {
		_ = server.Close()
		<-served
	}, nil
}
