// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"platformapp/test/fault/proxy"
)

// TestRequests sends requests as an operator does and tells how they are entered.
func TestRequests(t *testing.T) {
	const (
		apply, cbor = "application/apply-patch+yaml", "application/apply-patch+cbor"
		merge, full = "application/merge-patch+json", "application/json"
		deployment  = "/apis/apps/v1/namespaces/team/deployments/app"
		service     = "/api/v1/namespaces/team/services"
	)
	s := newServer(t)
	p := s.start()
	of := func(verb, group, resource, subresource, namespace, name string) proxy.Request {
		return proxy.Request{
			Verb: verb, Group: group, Resource: resource, Subresource: subresource, Namespace: namespace, Name: name,
		}
	}
	dryRun := of("apply", "apps", "deployments", "", "team", "app")
	dryRun.DryRun = true
	tests := []struct {
		method, url, contentType string
		want                     proxy.Request
		key                      string
		isWrite                  bool
	}{
		{"GET", "/version", "", proxy.Request{}, "/version", false},
		{"GET", "/apis", "", proxy.Request{}, "/apis", false},
		{"GET", "/apis/apps/v1?timeout=32s", "", proxy.Request{}, "/apis/apps/v1", false},
		{"GET", "/api/v1/namespaces/team/pods/app-1", "", of("get", "", "pods", "", "team", "app-1"), "get pods", false},
		{
			"GET", "/apis/apps/v1/deployments?limit=500", "",
			of("list", "apps", "deployments", "", "", ""), "list deployments.apps", false,
		},
		{
			"GET", "/api/v1/namespaces/team/configmaps?watch=true&fieldSelector=metadata.name%3Dconfig", "",
			of("watch", "", "configmaps", "", "team", "config"), "watch configmaps", false,
		},
		{
			"PATCH", deployment + "?fieldManager=platformapp&force=true", apply,
			of("apply", "apps", "deployments", "", "team", "app"), "apply deployments.apps", true,
		},
		{"PATCH", deployment, cbor, of("apply", "apps", "deployments", "", "team", "app"), "apply deployments.apps", true},
		{"PATCH", deployment + "?dryRun=All", apply, dryRun, "apply deployments.apps", false},
		{
			"PATCH", "/apis/devops.my.domain/v1/namespaces/team/demomicroservices/app/status", merge,
			of("patch", "devops.my.domain", "demomicroservices", "status", "team", "app"),
			"patch demomicroservices.devops.my.domain/status", true,
		},
		{
			"PUT", deployment + "/scale", full,
			of("update", "apps", "deployments", "scale", "team", "app"), "update deployments.apps/scale", true,
		},
		{"POST", "/api/v1/namespaces", full, of("create", "", "namespaces", "", "", ""), "create namespaces", true},
		{"DELETE", service + "/app", "", of("delete", "", "services", "", "team", "app"), "delete services", true},
		{"DELETE", service, "", of("deletecollection", "", "services", "", "team", ""), "deletecollection services", true},
		{
			"PUT", "/apis/coordination.k8s.io/v1/namespaces/system/leases/leader", full,
			of("update", "coordination.k8s.io", "leases", "", "system", "leader"), "update leases.coordination.k8s.io", false,
		},
		{
			"POST", "/apis/events.k8s.io/v1/namespaces/team/events", full,
			of("create", "events.k8s.io", "events", "", "team", ""), "create events.events.k8s.io", false,
		},
		{
			"POST", "/apis/authentication.k8s.io/v1/tokenreviews", full,
			of("create", "authentication.k8s.io", "tokenreviews", "", "", ""), "create tokenreviews.authentication.k8s.io", false,
		},
	}
	for i, test := range tests {
		request, err := http.NewRequestWithContext(t.Context(), test.method, p.Config().Host+test.url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", test.contentType)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		got := p.RequestsSince(i)[0]
		if got.Code != http.StatusOK || got.At.IsZero() {
			t.Errorf("%s %s is entered with code %d at %s", test.method, test.url, got.Code, got.At)
		}
		test.want.Index, test.want.Code, test.want.At = i, got.Code, got.At
		test.want.Path, test.want.RawQuery, _ = strings.Cut(test.url, "?")
		if got != test.want || got.Key() != test.key || got.IsWrite() != test.isWrite {
			t.Errorf("%s %s is entered as %q, write %t: %+v", test.method, test.url, got.Key(), got.IsWrite(), got)
		}
		if got.IsList() != (test.want.Verb == "list") {
			t.Errorf("%s %s is a list: %t", test.method, test.url, got.IsList())
		}
	}
	if got := len(p.Writes()); got != 7 {
		t.Errorf("%d writes", got)
	}
	if got := p.RequestsSince(p.Count() + 5); len(got) > 0 {
		t.Errorf("the future holds %+v", got)
	}
}

// TestIdentity tells that the API server is asked with the identity of the upstream, and with the client's own user agent.
func TestIdentity(t *testing.T) {
	var header http.Header
	s := newServer(t)
	s.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { header = r.Header.Clone() })
	upstream := s.config()
	upstream.BearerToken = "of-the-operator"
	p, err := proxy.Start(upstream)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	config := p.Config()
	if config.BearerToken != "" {
		t.Errorf("the client gets the token %q", config.BearerToken)
	}
	config.UserAgent = "platformapp/1.2.3"
	_ = create(t, newClientOf(t, config))
	got := header.Get("Authorization") + ", " + header.Get("User-Agent")
	if got != "Bearer of-the-operator, platformapp/1.2.3" {
		t.Errorf("the API server is asked by %s", got)
	}
}

// TestHTTP2 tells that a Proxy with TLS serves HTTP/2, and one without HTTP/1.1.
func TestHTTP2(t *testing.T) {
	for want, opts := range map[string][]proxy.Option{"HTTP/1.1": nil, "HTTP/2.0": {proxy.WithTLS()}} {
		p := newServer(t).start(opts...)
		c := newHTTPClient(t, p)
		response, err := c.Get(p.Config().Host + "/version")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.Proto != want {
			t.Errorf("served %s, want %s", response.Proto, want)
		}
	}
}
