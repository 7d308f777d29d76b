// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/controllers"
	"platformapp/internal/localcluster"
	"platformapp/test/operator"
)

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	code := m.Run()
	if err := endLocalSuite(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// suite is a cluster and what the tests share on it.
type suite struct {
	root   string
	config *rest.Config
	// admin may do everything; it neither caches nor throttles.
	admin     client.WithWatch
	clientset kubernetes.Interface
	// bundle is the one of the checkout.
	bundle *bundle

	// What follows is there only on the local control plane.

	cluster *localcluster.Cluster
	kubectl string
	// scratch holds the cluster, the operator and the catalogs.
	scratch string
	// binary is the operator. It lies in the folder of the cluster, which makes each process of it one of the
	// cluster's, as all programs here: they end with it, also when the test process is killed.
	binary string
}

// isLocal tells whether this is the local control plane, where the tests play the nodes.
func (s *suite) isLocal() bool { return s.cluster != nil }

var (
	localOnce sync.Once
	local     *suite
	errLocal  error
)

// localSuite returns the suite on the local control plane, which the first test starts.
func localSuite(t *testing.T) *suite {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a local cluster")
	}
	localOnce.Do(func() { local, errLocal = newLocalSuite(t.Context()) })
	if errLocal != nil {
		t.Fatal(errLocal)
	}
	return local
}

func newLocalSuite(ctx context.Context) (*suite, error) {
	s := &suite{}
	var err error
	if s.root, err = localcluster.CheckoutRoot(); err != nil {
		return nil, err
	}
	tools, err := localcluster.EnsureTools(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	s.kubectl = tools.Path(localcluster.Kubectl)
	if s.scratch, err = os.MkdirTemp("", "platformapp-olm-"); err != nil {
		return nil, err
	}
	s.cluster, err = localcluster.Start(ctx, localcluster.Options{
		Dir: filepath.Join(s.scratch, "cluster"), Tools: tools, Name: "olm", Audit: true, Log: os.Stderr,
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.scratch))
	}
	if err := errors.Join(s.connect(s.cluster.Config), s.build(ctx)); err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

// connect makes the clients and reads the bundle.
func (s *suite) connect(config *rest.Config) error {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(controllers.AddToScheme, apiextensionsv1.AddToScheme,
		operatorsv1.AddToScheme, operatorsv1alpha1.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		return err
	}
	s.config = rest.CopyConfig(config)
	s.config.WarningHandler = rest.NoWarnings{}
	var err error
	if s.admin, err = client.NewWithWatch(s.config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if s.clientset, err = kubernetes.NewForConfig(s.config); err != nil {
		return err
	}
	s.bundle, err = readBundle(filepath.Join(s.root, "bundle"))
	return err
}

// build builds the operator.
func (s *suite) build(ctx context.Context) error {
	s.binary = filepath.Join(filepath.Dir(s.cluster.Kubeconfig()), "operator", "manager")
	return operator.Build(ctx, operator.BuildOptions{Root: s.root, Output: s.binary})
}

// stopTimeout bounds what ends the suite.
const stopTimeout = 30 * time.Second

// endLocalSuite ends what runs.
func endLocalSuite() error {
	if local == nil {
		return nil
	}
	return local.end()
}

func (s *suite) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return errors.Join(s.cluster.Stop(ctx), os.RemoveAll(s.scratch))
}
