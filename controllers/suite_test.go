// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"platformapp/controllers"
	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
)

// cluster connects to the API server that all tests of this package share, each in a
// namespace of its own. No controller but ours runs: the tests play the others.
var cluster *rest.Config

// binaries is the folder of the programs of a control plane, for tests that need one of
// their own.
var binaries string

// parallelTests is how many tests run at once.
const parallelTests = 8

// mapper tells the paths of the kinds: it asks the shared API server once, not for each client.
var mapper meta.RESTMapper

// scheme knows the types that the operator reads and writes.
var scheme = runtime.NewScheme()

// ownCRDs is the folder of the operator's CustomResourceDefinitions.
var ownCRDs = filepath.Join("..", "config", "crd", "bases")

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
	ctrl.SetLogger(logr.Discard())
	if err := testutil.RunInParallel(parallelTests); err != nil {
		return 0, err
	}
	if err := controllers.AddToScheme(scheme); err != nil {
		return 0, err
	}
	assets, err := localcluster.NewAssets(context.Background(), os.Stderr)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, assets.Remove(context.Background())) }()
	binaries = assets.Dir
	optional, err := testutil.OptionalCRDs(context.Background())
	if err != nil {
		return 0, err
	}
	environment := testutil.NewEnvironment(assets.Dir, append(slices.Sorted(maps.Values(optional)), ownCRDs)...)
	if cluster, err = environment.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	cluster = testutil.Apart(cluster)
	cluster.QPS = -1
	httpClient, err := rest.HTTPClientFor(cluster)
	if err != nil {
		return 0, err
	}
	if mapper, err = apiutil.NewDynamicRESTMapper(cluster, httpClient); err != nil {
		return 0, err
	}
	cluster.Wrap(written.countedBy)
	logged.catch()
	return m.Run(), nil
}
