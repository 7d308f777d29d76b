// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
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
		return get(ctx, c, "https://"+s.operators[0].MetricsAddress+"/metrics", token)
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
		"a token nobody has":  {"invalid", "401"},
		"one without a right": {tokenOf(stranger), "403"},
	} {
		if _, err := ask(t.Context(), test.token); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s gets %v, want status %s", who, err, test.want)
		}
	}
}

// get returns the body of an answer 200, and an error for any other.
func get(ctx context.Context, c *http.Client, url, token string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := c.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s says %s: %s", url, response.Status, body)
	}
	return string(body), nil
}
