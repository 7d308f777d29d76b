// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestAKubeconfigConnectsAsItsConfigDoes(t *testing.T) {
	for name, config := range map[string]*rest.Config{
		"a token": {
			Host: "https://127.0.0.1:1", BearerToken: "t", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca"), ServerName: "kubernetes"},
		},
		"a client certificate": {
			Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CertData: []byte("cert"), KeyData: []byte("key"), Insecure: true},
		},
		"plain http": {Host: "http://127.0.0.1:1"},
		"another user": {
			Host: "https://127.0.0.1:1", BearerToken: "t", Impersonate: rest.ImpersonationConfig{UserName: "u", Groups: []string{"g"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			if err := Kubeconfig(path, config); err != nil {
				t.Fatal(err)
			}
			got, err := clientcmd.BuildConfigFromFlags("", path)
			if err != nil {
				t.Fatal(err)
			}
			// The rest of a config is functions and what a kubeconfig cannot say.
			said := func(c *rest.Config) map[string]any {
				return map[string]any{
					"host": c.Host, "token": c.BearerToken, "impersonate": c.Impersonate, "tls": c.TLSClientConfig,
				}
			}
			if diff := cmp.Diff(said(config), said(got), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the kubeconfig connects otherwise (-config +kubeconfig):\n%s", diff)
			}
		})
	}
}

func TestAKubeconfigCannotHoldCode(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1", Transport: http.DefaultTransport}
	if err := Kubeconfig(filepath.Join(t.TempDir(), "kubeconfig"), config); err == nil {
		t.Error("a transport is dropped in silence")
	}
}
