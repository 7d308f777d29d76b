// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"platformapp/test/operator"
)

// The names that config/default gives.
const (
	systemNamespace    = "platformapp-system"
	managerName        = "platformapp-controller-manager"
	managerRole        = "platformapp-manager-role"
	metricsReaderRole  = "platformapp-metrics-reader"
	leaderElectionRole = "platformapp-leader-election-role"
)

// account is a service account.
type account struct{ namespace, name string }

// installedAccount is the one that config/rbac makes, with the rights that it gives.
var installedAccount = account{systemNamespace, managerName}

// user is the name that the API server knows the account by.
func (a account) user() string { return "system:serviceaccount:" + a.namespace + ":" + a.name }

// newAccount makes a service account without rights.
func (s *suite) newAccount(t *testing.T, namespace, name string) account {
	t.Helper()
	object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := s.admin.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	return account{namespace, name}
}

// allow gives an account a role in a namespace, and there alone.
func (s *suite) allow(t *testing.T, a account, namespace, roleKind, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "e2e-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: roleKind, Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.namespace, Name: a.name}},
	}
	if err := s.admin.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}

// allowEverywhere gives an account a cluster role.
func (s *suite) allowEverywhere(t *testing.T, a account, role string) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.namespace, Name: a.name}},
	}
	if err := s.admin.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}

// tokenOf returns a token of the account, such as a pod of it has.
func (s *suite) tokenOf(ctx context.Context, a account) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))}}
	answer, err := s.clientset.CoreV1().ServiceAccounts(a.namespace).CreateToken(ctx, a.name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token of %s: %w", a.user(), err)
	}
	return answer.Status.Token, nil
}

// kubeconfigFor writes a kubeconfig of the account and returns its path.
func (s *suite) kubeconfigFor(ctx context.Context, a account) (string, error) {
	token, err := s.tokenOf(ctx, a)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.scratch, a.namespace+"-"+a.name+".kubeconfig")
	return path, operator.Kubeconfig(path, s.connection(s.cluster.Config.Host, token))
}

// connection connects with a token to a server that has the certificate of the cluster's.
func (s *suite) connection(server, token string) *rest.Config {
	ca := rest.TLSClientConfig{CAFile: s.cluster.Config.CAFile, CAData: s.cluster.Config.CAData}
	return &rest.Config{Host: server, BearerToken: token, TLSClientConfig: ca}
}
