// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"platformapp/internal/localcluster"
	"platformapp/internal/resources"
	"platformapp/internal/testutil"
	"platformapp/internal/workload"
)

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	if err := stopServer(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// server is a real API server with the real definitions of the optional kinds, which the
// first test that needs it starts. No controller runs.
var server struct {
	once        sync.Once
	environment *envtest.Environment
	assets      *localcluster.Assets
	client      client.Client
	err         error
}

func startServer(ctx context.Context) error {
	crds, err := testutil.OptionalCRDs(ctx)
	if err != nil {
		return err
	}
	if server.assets, err = localcluster.NewAssets(ctx, os.Stderr); err != nil {
		return err
	}
	server.environment = testutil.NewEnvironment(server.assets.Dir, slices.Collect(maps.Values(crds))...)
	config, err := server.environment.Start()
	if err != nil {
		return err
	}
	config.QPS = -1
	server.client, err = client.New(config, client.Options{})
	return err
}

func stopServer(ctx context.Context) error {
	var errs []error
	if server.environment != nil {
		errs = append(errs, server.environment.Stop())
	}
	if server.assets != nil {
		errs = append(errs, server.assets.Remove(ctx))
	}
	return errors.Join(errs...)
}

// newNamespace returns a client of the server and the name of a new namespace.
func newNamespace(t testing.TB) (client.Client, string) {
	t.Helper()
	// The server outlives the test that starts it.
	server.once.Do(func() { server.err = startServer(context.WithoutCancel(t.Context())) })
	if server.err != nil {
		t.Fatal(server.err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "resources-"}}
	if err := server.client.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return server.client, namespace.Name
}

// applyOptions are those of every apply.
var applyOptions = []client.ApplyOption{client.FieldOwner(workload.FieldManager), client.ForceOwnership}

// applyChild applies a child in a namespace and returns what was applied and what is stored.
func applyChild(t testing.TB, c client.Client, namespace string, child resources.Child, options ...client.ApplyOption) (applied, stored *unstructured.Unstructured) {
	t.Helper()
	child.Meta.WithNamespace(namespace)
	serialized, err := json.Marshal(child.Config)
	if err != nil {
		t.Fatal(err)
	}
	applied = &unstructured.Unstructured{}
	if err := applied.UnmarshalJSON(serialized); err != nil {
		t.Fatal(err)
	}
	stored = applied.DeepCopy()
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(stored), append(applyOptions, options...)...); err != nil {
		t.Errorf("the server refuses the %s: %v\n%s", child.Kind, err, serialized)
	}
	return applied, stored
}

// missing returns the paths at which the stored value is not the applied one. A map may
// have more, but a list of a kind whose schema is not known counts as a whole.
func missing(path string, applied, stored any) []string {
	switch want := applied.(type) {
	case map[string]any:
		have, ok := stored.(map[string]any)
		if !ok {
			return []string{path}
		}
		var paths []string
		for key, value := range want {
			paths = append(paths, missing(path+"."+key, value, have[key])...)
		}
		return paths
	case []any:
		have, ok := stored.([]any)
		if !ok || len(have) != len(want) {
			return []string{path}
		}
		var paths []string
		for i := range want {
			at := fmt.Sprintf("%s[%d]", path, i)
			paths = append(paths, missing(at, want[i], have[i])...)
			// The reverse: what the server has added to the item.
			paths = append(paths, missing(at, have[i], want[i])...)
		}
		return paths
	default:
		if fmt.Sprint(applied) != fmt.Sprint(stored) {
			return []string{path}
		}
		return nil
	}
}

// describe shortens what was found for a message.
func describe(paths []string) string { return strings.Join(paths, ", ") }
