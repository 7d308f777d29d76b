// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"strings"
	"testing"
	"time"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/audit"
)

// TestRightsOfTheBundle runs the manager of the bundle with the rights that OLM makes of the ClusterServiceVersion, in
// each install mode, without OLM.
func TestRightsOfTheBundle(t *testing.T) {
	s := &scene{t, localSuite(t)}
	defer s.installCRDs()()
	t.Run("namespaced", func(t *testing.T) {
		for _, m := range modes {
			if !m.all {
				t.Run(string(m.name), func(t *testing.T) {
					t.Parallel()
					s.in(t).worksWithRenderedRights(m)
				})
			}
		}
	})
	// It watches the namespaces of the others too, so it runs after they have ended.
	for _, m := range modes {
		if m.all {
			t.Run(string(m.name), func(t *testing.T) { s.in(t).worksWithRenderedRights(m) })
		}
	}
}

func (s *scene) worksWithRenderedRights(m mode) {
	p := s.places(m)
	start := time.Now()
	account := s.grant(p)
	inside, outside := s.createApplications(p.watched...), s.createApplications(p.unwatched...)
	manager := s.startRendered(p)
	s.ready(inside...)
	s.expectUntouched(outside...)
	s.expectRightsSuffice(p, account, start)
	if log := manager.Log(); strings.Contains(log, "forbidden") {
		s.Errorf("the manager is forbidden something:\n%s", tail(log))
	}
}

// expectRightsSuffice fails when the manager was refused something, or asked for something outside the namespaces that
// it watches and its own. The namespace of its own it needs for the leader's lease alone.
func (s *scene) expectRightsSuffice(p places, a account, since time.Time) {
	s.Helper()
	requests := s.requestsOf(a, since)
	if len(requests) == 0 {
		s.Fatal("no request of the manager is in the audit log: this test sees nothing")
	}
	audit.ExpectNone(s, "requests of the manager were refused", audit.Filter(requests, audit.Request.IsRefused))
	audit.ExpectNone(s, "requests of the manager leave the watched namespaces", audit.Filter(requests, func(r audit.Request) bool {
		return !p.watches(r.Namespace) && (r.Namespace != p.own || !isOfLeaderElection(r))
	}))
}

// isOfLeaderElection tells whether a request is about the leader's lease, or an event about it.
func isOfLeaderElection(r audit.Request) bool {
	return r.Resource == "leases.coordination.k8s.io" || r.Resource == "events"
}

// installCRDs installs the CustomResourceDefinitions of the bundle, unless OLM has left them here, and returns what takes
// away those that it installed.
func (s *scene) installCRDs() (remove func()) {
	s.Helper()
	var installed []*apiextensionsv1.CustomResourceDefinition
	for _, crd := range s.bundle.crds {
		crd = crd.DeepCopy()
		err := s.admin.Create(s.Context(), crd)
		if client.IgnoreAlreadyExists(err) != nil {
			s.Fatal(err)
		}
		if err == nil {
			installed = append(installed, crd)
		}
		s.isEstablished(crd.Name)
	}
	return func() {
		for _, crd := range installed {
			s.deleteNow(crd)
			s.isGone(crd)
		}
	}
}

// grant makes the manager's ServiceAccount and gives it what the ClusterServiceVersion says, as OLM does: permissions
// by a Role in each of the namespaces, or everywhere where it watches all of them.
func (s *scene) grant(p places) account {
	s.Helper()
	a := account{p.own, s.bundle.serviceAccount()}
	s.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.name}})
	strategy := s.bundle.csv.Spec.InstallStrategy.StrategySpec
	s.bindEverywhere(a, strategy.ClusterPermissions)
	s.bindIn(a.namespace, a, strategy.Permissions)
	if p.mode.all {
		s.bindEverywhere(a, strategy.Permissions)
	}
	for _, namespace := range p.targets {
		if namespace != p.own {
			s.bindIn(namespace, a, strategy.Permissions)
		}
	}
	return a
}

func (s *scene) bindEverywhere(a account, permissions []operatorsv1alpha1.StrategyDeploymentPermissions) {
	s.Helper()
	for _, p := range permissions {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: a.namespace + "-"}, Rules: p.Rules}
		s.create(role)
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.namespace, Name: a.name}},
		}
		s.create(binding)
		s.Cleanup(func() { s.deleteNow(binding); s.deleteNow(role) })
	}
}

func (s *scene) bindIn(namespace string, a account, permissions []operatorsv1alpha1.StrategyDeploymentPermissions) {
	s.Helper()
	for _, p := range permissions {
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: a.name + "-"}, Rules: p.Rules}
		s.create(role)
		s.create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.namespace, Name: a.name}},
		})
	}
}

// startRendered starts the manager as the bundle's Deployment says. OLM would add the annotation with the namespaces.
func (s *scene) startRendered(p places) *manager {
	s.Helper()
	deployment := s.bundle.deployment()
	template := deployment.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.Name, pod.UID = p.own, p.own, types.UID(p.own)
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, targetNamespacesAnnotation, p.annotation())
	m, err := s.runAs(s.Context(), pod)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { s.terminate(m) })
	s.eventually(shortWait, "the manager is ready", func() error { return m.ready(s.Context()) })
	return m
}
