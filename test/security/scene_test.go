// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/testutil"
	"platformapp/test/operator"
)

// patience is how long the operator may take for anything on a machine that does much else.
const patience = 2 * time.Minute

// scene is a test with a namespace of its own on the shared API server.
type scene struct {
	*testing.T
	namespace string
	// admin may do everything.
	admin     client.Client
	clientset kubernetes.Interface
}

func newScene(t *testing.T) *scene {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the operator")
	}
	s := &scene{T: t}
	config := testutil.Apart(cluster.config)
	var err error
	s.admin, err = client.New(config, client.Options{Scheme: cluster.scheme})
	s.must(err)
	s.clientset, err = kubernetes.NewForConfig(config)
	s.must(err)
	s.namespace = s.newNamespace()
	return s
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) newNamespace() string {
	s.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-"}}
	s.create(namespace)
	return namespace.Name
}

func (s *scene) create(objects ...client.Object) {
	s.Helper()
	for _, object := range objects {
		s.must(s.admin.Create(s.Context(), object))
	}
}

// in returns the metadata of an object in the scene's namespace.
func (s *scene) in(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

// eventually waits until check returns nil.
func (s *scene) eventually(what string, check func(context.Context) error) {
	s.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = check(s.Context()); err == nil {
			return
		}
	}
	s.Fatalf("%s: not within %s: %v", what, patience, err)
}

// account makes a ServiceAccount in the scene's namespace and returns its user name and what connects as it.
func (s *scene) account(name string) (user string, config *rest.Config) {
	s.Helper()
	s.create(&corev1.ServiceAccount{ObjectMeta: s.in(name)})
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(7200))}}
	answer, err := s.clientset.CoreV1().ServiceAccounts(s.namespace).CreateToken(s.Context(), name, request, metav1.CreateOptions{})
	s.must(err)
	config = rest.AnonymousClientConfig(cluster.config)
	config.BearerToken, config.QPS, config.WarningHandler = answer.Status.Token, -1, rest.NoWarnings{}
	return "system:serviceaccount:" + s.namespace + ":" + name, config
}

// allow gives an account of the scene rights: in the scene's namespace, or everywhere.
func (s *scene) allow(account string, everywhere bool, rules []rbacv1.PolicyRule) {
	s.Helper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.namespace, Name: account}}
	if !everywhere {
		s.create(&rbacv1.Role{ObjectMeta: s.in(account), Rules: rules}, &rbacv1.RoleBinding{
			ObjectMeta: s.in(account), Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
		})
		return
	}
	name := metav1.ObjectMeta{Name: s.namespace + "-" + account}
	s.create(&rbacv1.ClusterRole{ObjectMeta: name, Rules: rules}, &rbacv1.ClusterRoleBinding{
		ObjectMeta: name, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
	})
}

// start runs an operator until the test ends. It has all rights of config/rbac everywhere, as when it is installed for all
// namespaces, and sees to the scene's namespace and others.
func (s *scene) start(others []string, args ...string) (process *operator.Process, user string) {
	s.Helper()
	user, config := s.account("operator")
	s.allow("operator", true, roles(s.T)["manager-role"].Rules)
	binary, err := builtOperator()
	s.must(err)
	kubeconfig := filepath.Join(s.TempDir(), "kubeconfig")
	s.must(operator.Kubeconfig(kubeconfig, config))
	watch := s.namespace
	for _, namespace := range others {
		watch += "," + namespace
	}
	process, err = operator.Start(s.Context(), operator.Options{
		Binary: binary, Kubeconfig: kubeconfig, Watch: watch, Args: args, Log: filepath.Join(s.TempDir(), "operator.log"),
	})
	s.must(err)
	s.Cleanup(func() {
		if err := process.Terminate(); err != nil {
			s.Error(err)
		}
	})
	return process, user
}
