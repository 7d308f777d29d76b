// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"platformapp/controllers"
	"platformapp/internal/metrics"
	"platformapp/internal/webhook"
)

// checkServers looks at what is served only after the caches have begun to fill, which is
// too late for a clear line when an address is taken, and turns the webhook off when it
// has no certificate.
func (o *options) checkServers(ctx context.Context) error {
	if o.metricsAddress != "0" {
		if err := checkAddress(ctx, o.metricsAddress); err != nil {
			return fmt.Errorf("--metrics-bind-address: %w", err)
		}
	}
	if !o.webhooks {
		return nil
	}
	var err error
	if o.webhooks, err = webhook.HasCertificate(o.webhookCertPath); err != nil {
		return fmt.Errorf("--webhook-cert-path: %w", err)
	}
	if !o.webhooks {
		return nil
	}
	if err := checkAddress(ctx, ":"+strconv.Itoa(o.webhookPort)); err != nil {
		return fmt.Errorf("--webhook-port: %w", err)
	}
	return nil
}

// checkAddress tries whether an address can be listened at.
func checkAddress(ctx context.Context, address string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return listener.Close()
}

func metricsOptions(o options) metricsserver.Options {
	m := metricsserver.Options{BindAddress: o.metricsAddress, SecureServing: o.metricsSecure, CertDir: o.metricsCertPath}
	if o.metricsSecure {
		m.FilterProvider = metrics.Restricted
		m.TLSOpts = []func(*tls.Config){webhook.ConfigureTLS}
	}
	return m
}

// addWebhook serves the validating webhook, unless it is off. The operator is ready only
// when it answers: what the API server asks before is let pass unseen.
func addWebhook(mgr manager.Manager, o options, apis *controllers.APIs) error {
	if !o.webhooks {
		ctrl.Log.Info("the webhook is off: ENABLE_WEBHOOKS is false or there is no certificate", "path", o.webhookCertPath)
		return nil
	}
	if err := mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	return webhook.SetupWithManager(mgr, webhook.Options{
		Translate:  o.controllers.Options,
		Namespaces: o.namespaces,
		Platform:   apis.Platform,
		Duplicate:  controllers.Duplicate(mgr.GetCache(), o.controllers),
	})
}
