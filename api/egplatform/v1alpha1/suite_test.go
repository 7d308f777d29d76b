// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
)

// server is a real API server with the CRDs and nothing else: what it refuses, the schema
// refuses.
var server client.Client

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	code, err := runWithAPIServer(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithAPIServer(m *testing.M) (code int, err error) {
	ctrl.SetLogger(logr.Discard())
	assets, err := localcluster.NewAssets(context.Background(), os.Stderr)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, assets.Remove(context.Background())) }()
	environment := testutil.NewEnvironment(assets.Dir, filepath.Join("..", "..", "..", "config", "crd", "bases"))
	config, err := environment.Start()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	config.QPS = -1
	if server, err = client.New(config, client.Options{Scheme: clientgoscheme.Scheme}); err != nil {
		return 0, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}
	if err := server.Create(context.Background(), namespace); err != nil {
		return 0, err
	}
	return m.Run(), nil
}
