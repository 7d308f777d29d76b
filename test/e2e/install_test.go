// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"net/http"
	"strings"
	"testing"
)

// The namespace enforces Pod Security "restricted".
func TestManagerOfConfigDefaultIsAdmitted(t *testing.T) {
	s := newSharedScene(t)
	s.kubectl("rollout", "status", "deployment/"+managerName, "--namespace", systemNamespace, "--timeout="+podWait.String())
}

func TestMetricsAreServedToWhomTheClusterAllows(t *testing.T) {
	s := newSharedScene(t)
	namespace := s.namespace("metrics")
	stranger, reader := s.newAccount(t, namespace, "stranger"), s.newAccount(t, namespace, "reader")
	s.allowEverywhere(t, reader, metricsReaderRole)
	// The certificate is made at the start and signed by nobody.
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	ask := func(ctx context.Context, token string) (string, error) {
		return get(ctx, c, "https://"+s.operators[0].metrics+"/metrics", token)
	}
	tokenOf := func(a account) string {
		token, err := s.tokenOf(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	// The endpoint is there a moment after the operator is ready, and a refusal from before the right was there is
	// remembered for half a minute.
	token := tokenOf(reader)
	s.eventually(podWait, "who has the right gets the metrics", func(ctx context.Context) error {
		metrics, err := ask(ctx, token)
		if err == nil && !strings.Contains(metrics, "controller_runtime_reconcile_total") {
			t.Errorf("the metrics lack the loop's:\n%s", metrics)
		}
		return err
	})
	for who, test := range map[string]struct{ token, want string }{
		"nobody":              {"", "401"},
		"one without a right": {tokenOf(stranger), "403"},
	} {
		if _, err := ask(t.Context(), test.token); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s gets %v, want status %s", who, err, test.want)
		}
	}
}
