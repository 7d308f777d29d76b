// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
)

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	os.Exit(m.Run())
}

// startServer returns a real API server with the CustomResourceDefinitions of this tree.
func startServer(t *testing.T) client.Client {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	// The context of a test has ended when its servers do.
	ctx := context.WithoutCancel(t.Context())
	assets, err := localcluster.NewAssets(ctx, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	environment := testutil.NewEnvironment(assets.Dir, filepath.FromSlash(crds))
	t.Cleanup(func() {
		if err := errors.Join(environment.Stop(), assets.Remove(ctx)); err != nil {
			t.Error(err)
		}
	})
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	server, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	return server
}

// What the corpus takes for stored is what an API server stores, status included: defaults
// are filled in alike, and nothing is dropped.
func TestStoredIsWhatTheServerStores(t *testing.T) {
	server := startServer(t)
	for i, c := range cut(t).Cases {
		object := &unstructured.Unstructured{Object: c.Object}
		sent := object.DeepCopy()
		// Many cases share a name, and the server chooses the rest.
		sent.SetName(fmt.Sprintf("a%d", i))
		sent.SetUID("")
		sent.SetGeneration(0)
		sent.SetCreationTimestamp(metav1.Time{})
		status := sent.Object["status"]
		if err := server.Create(t.Context(), sent); err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		sent.Object["status"] = status
		if err := server.Status().Update(t.Context(), sent); err != nil {
			t.Errorf("%s: its status: %v", c.Name, err)
			continue
		}
		for _, part := range []string{"spec", "status"} {
			if diff := cmp.Diff(object.Object[part], sent.Object[part]); diff != "" {
				t.Errorf("%s: the %s is stored otherwise (-corpus +server):\n%s", c.Name, part, diff)
			}
		}
	}
}
