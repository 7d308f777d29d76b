// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
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
	// ends is how often the operator may end and be started anew.
	ends int
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
	s.eventually(patience, "the applications report what they should", func(ctx context.Context) error {
		err := s.reportLast(ctx, fleet)
		if err != nil {
			err = errors.Join(err, s.playPods(ctx, namespace))
		}
		return err
	})
	took := time.Since(back)
	// What is left of deleted applications the garbage collector removes in its own time.
	living := s.awaitPart(back, namespace, want.state, func(state fault.State) fault.State { return withoutGone(state, fleet) })
	all := s.awaitState(back, namespace, want.state)
	s.Logf("%d applications report what they should %s after the end of the fault, which lasted %s; "+
		"all that is theirs is as it should after %s, and what deleted ones left is gone after %s; the operator ended %d times",
		len(fleet), round(took), round(back.Sub(start)), round(living), round(all), op.ends())
	if took > convergence {
		s.violate("", "the applications take %s after the end of the fault", took)
	}
	if living > convergence {
		s.violate("", "what belongs to the applications takes %s after the end of the fault", living)
	}
	// What an application that ends as without the fault does not have is not expected here either.
	without := s.children(want.namespace)
	maps.DeleteFunc(before, func(name string, _ child) bool {
		_, isThere := without[name]
		return !isThere
	})
	s.expectSame(before, s.children(namespace))
	s.expectOnce(a, namespace, want)
	s.expectQuiet(a)
	s.expectSound(op, o.ends)
}

// withoutGone returns of a state what does not belong to the applications of a fleet that are gone in the end.
func withoutGone(state fault.State, fleet []member) fault.State {
	rest := maps.Clone(state)
	maps.DeleteFunc(rest, func(object, _ string) bool {
		return slices.ContainsFunc(fleet, func(m member) bool { return m.last == gone && strings.Contains(object, m.app.GetName()) })
	})
	return rest
}

// round leaves out of a time what is of no interest.
func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

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
