// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/controllers"
	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
	"platformapp/test/operator"
)

// The names that config/default gives.
const (
	systemNamespace = "platformapp-system"
	managerRole     = "platformapp-manager-role"
)

// nodes have room for 110 pods each: every plan leaves some twenty behind.
const nodes = 10

// site is a cluster with the operator installed, where plans are carried out.
type site struct {
	root    string
	tools   localcluster.Tools
	cluster *localcluster.Cluster
	// binary is the operator. It lies in the folder of the cluster, which makes each process of it one of the cluster's.
	binary string
	// admin, clientset and objects may do everything; they neither cache nor throttle.
	admin     client.WithWatch
	clientset kubernetes.Interface
	objects   dynamic.Interface

	references references
}

// newSite starts a cluster, builds the operator and installs what make deploy installs.
func newSite(t *testing.T, name string) *site {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a local cluster")
	}
	s := &site{}
	s.cluster = localcluster.StartForTest(t, localcluster.Options{Name: name, Nodes: nodes, Audit: true})
	for _, step := range []func(context.Context) error{s.connect, s.build, s.install} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *site) build(ctx context.Context) error {
	s.binary = filepath.Join(filepath.Dir(s.cluster.Kubeconfig()), "operator", "platformapp")
	return operator.Build(ctx, operator.BuildOptions{Output: s.binary})
}

// install installs what make deploy installs, and the definitions of the kinds that a cluster may lack.
func (s *site) install(ctx context.Context) error {
	optional, err := testutil.OptionalCRDs(ctx)
	if err != nil {
		return err
	}
	return errors.Join(
		s.kubectl(ctx, "apply", "--kustomize", filepath.Join(s.root, "config", "default")),
		s.kubectl(ctx, "apply", "--server-side",
			"--filename", optional["HTTPRoute"], "--filename", optional["Route"], "--filename", optional["ServiceMonitor"]),
		s.awaitOwnKinds(ctx),
	)
}

func (s *site) connect(ctx context.Context) error {
	scheme := runtime.NewScheme()
	err := controllers.AddToScheme(scheme)
	if err != nil {
		return err
	}
	if s.root, err = localcluster.CheckoutRoot(); err != nil {
		return err
	}
	if s.tools, err = localcluster.EnsureTools(ctx, nil); err != nil {
		return err
	}
	if s.admin, err = client.NewWithWatch(s.cluster.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if s.clientset, err = kubernetes.NewForConfig(s.cluster.Config); err != nil {
		return err
	}
	s.objects, err = dynamic.NewForConfig(s.cluster.Config)
	return err
}

// kubectl runs kubectl as cluster admin.
func (s *site) kubectl(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, s.tools.Path(localcluster.Kubectl), append([]string{"--kubeconfig", s.cluster.Kubeconfig()}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// ownKinds are the names of the operator's own definitions.
var ownKinds = []string{"egapps.egplatform.platform.evillgenius.com", "demomicroservices.devops.my.domain"}

// awaitOwnKinds waits until the API server serves the operator's own kinds.
func (s *site) awaitOwnKinds(ctx context.Context) error {
	args := append([]string{"wait", "--for=condition=Established", "--timeout=120s", "crd"}, ownKinds...)
	var err error
	// kubectl gives up when a definition is so new that it has no conditions.
	for range 20 {
		if err = s.kubectl(ctx, args...); err == nil {
			return nil
		}
		time.Sleep(pollInterval)
	}
	return err
}

// account is a service account.
type account struct{ namespace, name string }

// user is the name that the API server knows the account by.
func (a account) user() string { return "system:serviceaccount:" + a.namespace + ":" + a.name }

// newAccount makes a service account with the rights of a cluster role in its namespace, and nowhere else.
func (s *site) newAccount(ctx context.Context, namespace, role string) (account, error) {
	a := account{namespace, "operator"}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: a.name}
	return a, errors.Join(
		s.admin.Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}),
		s.admin.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.namespace, Name: a.name}},
		}),
	)
}

// configOf connects to the API server as an account.
func (s *site) configOf(ctx context.Context, a account) (*rest.Config, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(7200))}}
	answer, err := s.clientset.CoreV1().ServiceAccounts(a.namespace).CreateToken(ctx, a.name, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token of %s: %w", a.user(), err)
	}
	config := rest.AnonymousClientConfig(s.cluster.Config)
	config.BearerToken = answer.Status.Token
	return config, nil
}
