// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/audit"
)

// Applications are deleted while the operator may do nothing. They go, with all that was theirs: no finalizer waits for the
// operator. When it has its rights again, the same process goes on.
func TestApplicationsAreDeletedWhileTheOperatorHasNoRights(t *testing.T) {
	carryOut(t, course{"deleted without rights", 2, func(s *scene) {
		namespace := s.namespace("rights")
		a := s.account("operator", namespace)
		op := s.start(s.options(a, namespace))
		apps := s.kind.makeMany(namespace, s.size(5, 20))
		for _, app := range apps {
			s.create(app)
		}
		s.carriedOut(apps...)
		s.atRest(namespace)
		if err := s.admin.DeleteAllOf(s.Context(), &rbacv1.RoleBinding{}, client.InNamespace(namespace)); err != nil {
			s.Fatal(err)
		}
		start := time.Now()
		for _, app := range apps {
			if err := s.admin.Delete(s.Context(), app, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
				s.Fatal(err)
			}
		}
		s.gone(namespace, s.kind.list(), &appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &corev1.PodList{})
		s.Logf("applications and children are gone after %s", time.Since(start).Round(100*time.Millisecond))
		s.allow(a, namespace, "ClusterRole", managerRole)
		restored := time.Now()
		app := s.kind.make(namespace, "orders")
		s.create(app)
		s.carriedOut(app)
		s.Logf("a new application is carried out %s after the rights are back", time.Since(restored).Round(100*time.Millisecond))
		if !op.Runs() {
			s.Errorf("the operator has ended: %v", op.Err())
		}
		audit.ExpectNone(s, "deletions by the operator", audit.Filter(s.requestsOf(a, start), func(r audit.Request) bool {
			return r.Verb == "delete"
		}))
		s.atRest(namespace)
		if err := s.hasOnlyOwn(app); err != nil {
			s.Error(err)
		}
	}})
}
