// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/localcluster"
)

// cluster connects to the API server that all tests of this package share, each in a
// namespace of its own. No controller but ours runs: the tests play the others.
var cluster *rest.Config

// scheme knows the types that the operator reads and writes.
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
	ctrl.SetLogger(logr.Discard())
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, devopsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return 0, err
		}
	}
	assets, err := localcluster.NewAssets(context.Background(), os.Stderr)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, assets.Remove(context.Background())) }()
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assets.Dir,
		CRDDirectoryPaths:     []string{filepath.Join("..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	// The default has room for 254 Services.
	environment.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.0.0.0/16")
	if cluster, err = environment.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	cluster.QPS = -1
	return m.Run(), nil
}
