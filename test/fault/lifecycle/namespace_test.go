// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/operator"
)

const (
	// namespaceApps is how many applications there are in a namespace that is deleted.
	namespaceApps = 20
	// refusedCreates is how many of the creations for an application may be refused since its namespace goes.
	refusedCreates = 3
)

func TestANamespaceGoes(t *testing.T) {
	carryOut(t,
		course{"namespace deleted, operator away", 2, func(s *scene) {
			s.namespaceGoes(func(op *operator.Process, _ operator.Options, remove, gone func()) *operator.Process {
				s.terminate(op)
				remove()
				gone()
				return nil
			})
		}},
		course{"namespace deleted, operator back meanwhile", 2, func(s *scene) {
			s.namespaceGoes(func(op *operator.Process, o operator.Options, remove, gone func()) *operator.Process {
				op.Kill()
				remove()
				op = s.start(o)
				gone()
				return op
			})
		}},
		course{"namespace deleted, operator there", 2, func(s *scene) {
			s.namespaceGoes(func(op *operator.Process, _ operator.Options, remove, gone func()) *operator.Process {
				remove()
				gone()
				return op
			})
		}},
	)
}

// namespaceGoes deletes a namespace with applications. It goes, the operator does not hold it up, makes few attempts to put
// something into it, and goes on with its other namespace. play deletes the namespace by remove, waits by gone until it is
// gone, and returns the operator that runs then, or nil.
func (s *scene) namespaceGoes(play func(op *operator.Process, o operator.Options, remove, gone func()) *operator.Process) {
	s.Helper()
	other, doomed := s.namespace("other"), s.namespace("doomed")
	a := s.account("operator", other)
	// The rights of an operator for the whole cluster do not go with the namespace.
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: other},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: managerRole},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.namespace, Name: a.name}},
	}
	s.create(binding)
	options := s.options(a, other, doomed)
	op := s.start(options)
	app := s.kind.make(other, "orders")
	apps := s.kind.makeMany(doomed, namespaceApps)
	for _, app := range append(apps, app) {
		s.create(app)
	}
	s.carriedOut(append(apps, app)...)
	// Some turns of the loop are under way when it comes.
	s.changed(apps, 2)
	start := time.Now()
	op = play(op, options, func() {
		if err := s.admin.Delete(s.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}}); err != nil {
			s.Fatal(err)
		}
	}, func() {
		s.eventually("the namespace is gone", func(ctx context.Context) error {
			err := s.admin.Get(ctx, client.ObjectKey{Name: doomed}, &corev1.Namespace{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(errors.New("it is still there"), err)
		})
	})
	s.Logf("the namespace is gone after %s", time.Since(start).Round(100*time.Millisecond))
	refused := map[string]int{}
	for _, r := range s.requestsOf(a, start) {
		if r.Namespace == doomed && r.Code == http.StatusForbidden && r.IsWrite() {
			refused[r.Name]++
		}
	}
	for name, n := range refused {
		if n > refusedCreates {
			s.Errorf("%d writes for %s were refused since its namespace goes, want at most %d", n, name, refusedCreates)
		}
	}
	if op == nil {
		op = s.start(options)
	}
	s.changed([]application{app}, 3)
	s.carriedOut(app)
	if !op.Runs() {
		s.Errorf("the operator has ended: %v", op.Err())
	}
}
