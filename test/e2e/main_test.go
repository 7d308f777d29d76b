// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/controllers"
	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
	"platformapp/test/operator"
)

// parallelTests is how many tests run at once.
const parallelTests = 10

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	if err := testutil.RunInParallel(parallelTests); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := endSuite(code == 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// suite is what all tests share.
type suite struct {
	root    string
	tools   localcluster.Tools
	cluster *localcluster.Cluster
	// scratch holds the cluster and the logs of the operators.
	scratch string
	// binary is the operator. It lies in the folder of the cluster, which makes each process of it one of the
	// cluster's: they end with it, also when the test process is killed.
	binary string
	// admin may do everything; it neither caches nor throttles.
	admin     client.WithWatch
	clientset kubernetes.Interface

	mu     sync.Mutex
	shared *operator.Process
}

var (
	suiteOnce sync.Once
	theSuite  *suite
	errSuite  error
)

// startSuite returns the suite, which the first test starts.
func startSuite(t *testing.T) *suite {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a local cluster")
	}
	suiteOnce.Do(func() { theSuite, errSuite = newSuite(t.Context()) })
	if errSuite != nil {
		t.Fatal(errSuite)
	}
	return theSuite
}

func newSuite(ctx context.Context) (*suite, error) {
	s := &suite{}
	var err error
	if s.root, err = localcluster.CheckoutRoot(); err != nil {
		return nil, err
	}
	if s.tools, err = localcluster.EnsureTools(ctx, os.Stderr); err != nil {
		return nil, err
	}
	if s.scratch, err = os.MkdirTemp("", "platformapp-e2e-"); err != nil {
		return nil, err
	}
	s.cluster, err = localcluster.Start(ctx, localcluster.Options{
		Dir: filepath.Join(s.scratch, "cluster"), Tools: s.tools, Name: "e2e", Audit: true, Log: os.Stderr,
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.scratch))
	}
	for _, step := range []func(context.Context) error{s.connect, s.build, s.install} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, s.end(true))
		}
	}
	return s, nil
}

// stopTimeout bounds what ends the suite.
const stopTimeout = 30 * time.Second

// endSuite ends what runs. It keeps the operators' logs unless everything passed.
func endSuite(passed bool) error {
	if theSuite == nil {
		return nil
	}
	return theSuite.end(passed)
}

func (s *suite) end(removeLogs bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	err := errors.Join(s.stopShared(), s.cluster.Stop(ctx))
	if removeLogs {
		return errors.Join(err, os.RemoveAll(s.scratch))
	}
	fmt.Fprintf(os.Stderr, "the logs of the operators are in %s\n", s.scratch)
	return err
}

func (s *suite) connect(context.Context) error {
	scheme := runtime.NewScheme()
	if err := controllers.AddToScheme(scheme); err != nil {
		return err
	}
	var err error
	if s.admin, err = client.NewWithWatch(s.cluster.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	s.clientset, err = kubernetes.NewForConfig(s.cluster.Config)
	return err
}

// build builds the operator.
func (s *suite) build(ctx context.Context) error {
	s.binary = filepath.Join(filepath.Dir(s.cluster.Kubeconfig()), "operator", "platformapp")
	return operator.Build(ctx, operator.BuildOptions{Root: s.root, Output: s.binary})
}

// install installs what make deploy installs: the CRDs, the service account and its rights, and the Deployment of the
// manager, which is there to be admitted: its pod is played by KWOK and does nothing.
func (s *suite) install(ctx context.Context) error {
	if _, err := s.runKubectl(ctx, "apply", "-k", filepath.Join(s.root, "config", "default")); err != nil {
		return err
	}
	_, err := s.runKubectl(ctx, "wait", "--for=condition=Established", "--timeout=60s", "crd",
		"egapps.egplatform.platform.evillgenius.com", "demomicroservices.devops.my.domain")
	return err
}
