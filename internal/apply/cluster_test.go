// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"platformapp/internal/localcluster"
	"platformapp/internal/resources"
	"platformapp/internal/testutil"
)

// cluster connects to the API server that all tests of this package share. It has the
// real definitions of the optional kinds. No controller runs: the tests play them.
var cluster *rest.Config

// parallelTests is how many tests run at once.
const parallelTests = 8

// scheme knows the types of all children.
var scheme = runtime.NewScheme()

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	code, err := runWithControlPlane(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithControlPlane(m *testing.M) (code int, err error) {
	ctx := context.Background()
	ctrl.SetLogger(logr.Discard())
	if err := testutil.RunInParallel(parallelTests); err != nil {
		return 0, err
	}
	builder := runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, resources.AddOptionalToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		return 0, err
	}
	definitions, err := testutil.OptionalCRDs(ctx)
	if err != nil {
		return 0, err
	}
	assets, err := localcluster.NewAssets(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, assets.Remove(ctx)) }()
	environment := testutil.NewEnvironment(assets.Dir, slices.Collect(maps.Values(definitions))...)
	if cluster, err = environment.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	cluster = testutil.Apart(cluster)
	cluster.QPS = -1
	return m.Run(), nil
}
