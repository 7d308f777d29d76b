// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/controllers"
	"platformapp/internal/localcluster"
	"platformapp/internal/resources"
	"platformapp/internal/testutil"
	"platformapp/test/operator"
)

// parallelPlans is how many plans are carried out at once: most of the time each waits. In a sample that are all.
const parallelPlans = 10

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	if err := testutil.RunInParallel(parallelPlans); err != nil {
		panic(err)
	}
	code := m.Run()
	if theSuite != nil {
		if err := theSuite.end(code == 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// suite is what all plans share.
type suite struct {
	root    string
	tools   localcluster.Tools
	cluster *localcluster.Cluster
	// scratch holds the cluster and the logs of the operators.
	scratch string
	// admin may do everything; it neither caches nor throttles.
	admin     client.WithWatch
	clientset kubernetes.Interface

	mu sync.Mutex
	// builds are the operators that were built, by what makes each special.
	builds map[string]func() (string, error)
}

var (
	suiteOnce sync.Once
	theSuite  *suite
	errSuite  error
)

// startSuite returns the suite, which the first plan starts.
func startSuite(t *testing.T) *suite {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a local cluster")
	}
	suiteOnce.Do(func() { theSuite, errSuite = newSuite(context.WithoutCancel(t.Context())) })
	if errSuite != nil {
		t.Fatal(errSuite)
	}
	return theSuite
}

func newSuite(ctx context.Context) (*suite, error) {
	s := &suite{builds: map[string]func() (string, error){}}
	var err error
	if s.root, err = localcluster.CheckoutRoot(); err != nil {
		return nil, err
	}
	if s.tools, err = localcluster.EnsureTools(ctx, os.Stderr); err != nil {
		return nil, err
	}
	if s.scratch, err = os.MkdirTemp("", "platformapp-lifecycle-"); err != nil {
		return nil, err
	}
	s.cluster, err = localcluster.Start(ctx, localcluster.Options{
		Dir: filepath.Join(s.scratch, "cluster"), Tools: s.tools, Name: "lifecycle", Nodes: nodes, Audit: true, Log: os.Stderr,
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.scratch))
	}
	if err := errors.Join(s.connect(), s.install(ctx)); err != nil {
		return nil, errors.Join(err, s.end(true))
	}
	return s, nil
}

// nodes have room for 110 pods each.
const nodes = 5

func (s *suite) connect() error {
	scheme := runtime.NewScheme()
	if err := errors.Join(controllers.AddToScheme(scheme), resources.AddOptionalToScheme(scheme)); err != nil {
		return err
	}
	var err error
	if s.admin, err = client.NewWithWatch(s.cluster.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	s.clientset, err = kubernetes.NewForConfig(s.cluster.Config)
	return err
}

// install installs what make deploy installs, and the APIs that a cluster may lack.
func (s *suite) install(ctx context.Context) error {
	crds, err := testutil.OptionalCRDs(ctx)
	if err != nil {
		return err
	}
	optional := []string{"--filename", crds["HTTPRoute"], "--filename", crds["Route"], "--filename", crds["ServiceMonitor"]}
	for _, args := range [][]string{
		{"apply", "-k", filepath.Join(s.root, "config", "default")},
		append([]string{"apply", "--server-side"}, optional...),
		{"wait", "--for=condition=Established", "--timeout=" + patience.String(), "crd", "--all"},
	} {
		if err := s.kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// kubectl runs kubectl as cluster admin.
func (s *suite) kubectl(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, s.tools.Path(localcluster.Kubectl), args...)
	cmd.Env = []string{"KUBECONFIG=" + s.cluster.Kubeconfig(), "KUBECACHEDIR=" + filepath.Join(s.scratch, "kubectl-cache"), "KUBERC=off"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out.String())
	}
	return nil
}

// binary returns the path of the operator of the checkout, built with these options but for the output, the first time
// that it is asked for under the name. It lies in the folder of the cluster, which makes each process of it one of the
// cluster's: they end with it, also when the test process is killed.
func (s *suite) binary(ctx context.Context, name string, o operator.BuildOptions) (string, error) {
	s.mu.Lock()
	build, ok := s.builds[name]
	if !ok {
		o.Root, o.Output = s.root, filepath.Join(filepath.Dir(s.cluster.Kubeconfig()), "operator", name)
		build = sync.OnceValues(func() (string, error) { return o.Output, operator.Build(context.WithoutCancel(ctx), o) })
		s.builds[name] = build
	}
	s.mu.Unlock()
	return build()
}

// stopTimeout bounds what ends the suite.
const stopTimeout = time.Minute

func (s *suite) end(removeLogs bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	err := s.cluster.Stop(ctx)
	if removeLogs {
		return errors.Join(err, os.RemoveAll(s.scratch))
	}
	fmt.Fprintf(os.Stderr, "the logs of the operators are in %s\n", s.scratch)
	return err
}
