// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"platformapp/test/fault/proxy"
)

// BenchmarkForward carries an apply with a body and an answer of 2 KB: past a Proxy, and through it.
func BenchmarkForward(b *testing.B) {
	const path = "/apis/apps/v1/namespaces/team/deployments/app"
	body := strings.Repeat("x", 2<<10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	defer s.Close()
	p, err := proxy.Start(&rest.Config{Host: s.URL})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for name, host := range map[string]string{"past": s.URL, "through": p.Config().Host} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				request, err := http.NewRequestWithContext(b.Context(), http.MethodPatch, host+path, strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					b.Fatal(err)
				}
				_ = response.Body.Close()
			}
		})
	}
}
