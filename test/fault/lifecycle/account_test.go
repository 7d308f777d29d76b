// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"path/filepath"

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
	managerRole        = "platformapp-manager-role"
	leaderElectionRole = "platformapp-leader-election-role"
	leaseName          = "platformapp.platform.evillgenius.com"
)

// account is a service account that an operator runs as.
type account struct{ namespace, name string }

// user is the name that the API server knows the account by.
func (a account) user() string { return "system:serviceaccount:" + a.namespace + ":" + a.name }

// account makes a service account that has the rights of config/rbac in the given namespaces and nowhere else.
func (s *scene) account(name string, namespaces ...string) account {
	s.Helper()
	a := account{namespaces[0], name}
	s.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.name}})
	for _, namespace := range namespaces {
		s.allow(a, namespace, "ClusterRole", managerRole)
	}
	return a
}

// candidate makes an account like account, which may lead as well: with a lease in the namespace.
func (s *scene) candidate(name, namespace string) account {
	s.Helper()
	a := s.account(name, namespace)
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: leaderElectionRole}}
	s.get(role)
	s.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: a.name}, Rules: role.Rules})
	s.allow(a, namespace, "Role", a.name)
	return a
}

// allow gives an account a role in a namespace, and there alone.
func (s *scene) allow(a account, namespace, roleKind, role string) *rbacv1.RoleBinding {
	s.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: a.name + "-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: roleKind, Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.namespace, Name: a.name}},
	}
	s.create(binding)
	return binding
}

// kubeconfig writes a kubeconfig of the account and returns its path.
func (s *scene) kubeconfig(a account) string {
	s.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(7200))}}
	answer, err := s.clientset.CoreV1().ServiceAccounts(a.namespace).CreateToken(s.Context(), a.name, request, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("token of %s: %v", a.user(), err)
	}
	path := filepath.Join(s.scratch, a.namespace+"-"+a.name+".kubeconfig")
	ca := rest.TLSClientConfig{CAFile: s.cluster.Config.CAFile, CAData: s.cluster.Config.CAData}
	err = operator.Kubeconfig(path, &rest.Config{Host: s.cluster.Config.Host, BearerToken: answer.Status.Token, TLSClientConfig: ca})
	if err != nil {
		s.Fatal(err)
	}
	return path
}
