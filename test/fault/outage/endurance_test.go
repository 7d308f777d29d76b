// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/fault"
)

// convergence is how long after the return of the control plane all applications may take to be what they are asked to be.
var convergence = limit(time.Minute)

// limit is what a time is judged by. The sample runs beside the tests of other packages, where a time says little.
func limit(d time.Duration) time.Duration {
	if isFull {
		return d
	}
	return patience
}

// reference is a namespace whose fleet went through its changes without a fault.
type reference struct {
	account   account
	namespace string
	state     fault.State
}

// references makes the reference of a site when it is asked for first.
type references struct {
	once sync.Once
	made *reference
}

// reference returns the reference of the site.
func (s *scene) reference() *reference {
	s.Helper()
	s.references.once.Do(func() {
		r := &reference{namespace: s.newNamespace("reference")}
		op, a := s.startOperator([]string{r.namespace})
		defer op.end()
		r.account = a
		fleet := newFleet(r.namespace)
		s.launch(fleet)
		s.changeBefore(fleet)
		s.changeAfter(fleet)
		s.eventually(patience, "the reference reports", func(ctx context.Context) error { return s.reportLast(ctx, fleet) })
		s.eventually(patience, "what belongs to deleted applications is collected", func(ctx context.Context) error { return s.areCollected(ctx, fleet) })
		r.state = s.settledState(r.namespace)
		s.references.made = r
	})
	if s.references.made == nil {
		s.Fatal("there is no reference")
	}
	return s.references.made
}

// ordeal is what a fleet goes through.
type ordeal struct {
	// isReplica lets the operator hold a lease, and so end when it cannot renew it.
	isReplica bool
	// strike makes the changes that come right before the fault, injects it, and returns when it was over.
	strike func(s *scene, fleet []member) time.Time
	// restarts is how often the operator may be started anew.
	restarts int
}

// endure lets a fleet in a namespace of its own go through an ordeal and tells of what is not as without it.
func (s *scene) endure(o ordeal) {
	s.Helper()
	want := s.reference()
	namespace := s.newNamespace("endures")
	var args []string
	if o.isReplica {
		args = []string{"--leader-elect", "--leader-election-namespace=" + namespace}
		s.allowLease(account{namespace, "operator"})
	}
	op, a := s.startOperator([]string{namespace}, args...)
	fleet := newFleet(namespace)
	s.launch(fleet)
	before := s.children(namespace)

	start := time.Now()
	back := o.strike(s, fleet)
	s.changeAfter(fleet)
	s.eventually(patience, "the applications report what they should", func(ctx context.Context) error { return s.reportLast(ctx, fleet) })
	took := time.Since(back)
	all := s.awaitState(back, namespace, want.state)
	s.Logf("%d applications report what they should %s after the end of the fault, which lasted %s; "+
		"what others have to do is done after %s; %d restarts",
		len(fleet), took.Round(100*time.Millisecond), back.Sub(start).Round(100*time.Millisecond), all.Round(100*time.Millisecond), op.restarts())
	if took > convergence {
		s.violate("", "the applications take %s after the end of the fault", took)
	}
	if op.restarts() > o.restarts {
		s.violate("", "the operator was started %d times anew, at most %d are expected:\n%s", op.restarts(), o.restarts, op.log())
	}
	s.expectSame(before, s.children(namespace))
	s.expectOnce(a, namespace, want)
	s.expectQuiet(a)
	s.expectNoPanic(op)
}

// allowLease gives an account in its namespace the rights for leader election that config/rbac gives in the operator's.
func (s *scene) allowLease(a account) {
	s.Helper()
	role := &rbacv1.Role{}
	s.must(s.admin.Get(s.Context(), client.ObjectKey{Namespace: systemNamespace, Name: "platformapp-leader-election-role"}, role))
	meta := metav1.ObjectMeta{Namespace: a.namespace, Name: "lease"}
	s.create(&rbacv1.Role{ObjectMeta: meta, Rules: role.Rules}, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.namespace, Name: a.name}},
	})
}
