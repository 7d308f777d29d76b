// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/operator"
)

const (
	// patience is how long anything may take that is not itself bounded, on a machine that does much else.
	patience     = 4 * time.Minute
	pollInterval = 50 * time.Millisecond
	// quiet is how long nothing may change for applications and children to be at rest.
	quiet = 3 * time.Second
)

// scene is a plan that is being carried out. What it finds wrong are violations, and errors of the test.
type scene struct {
	*testing.T
	*suite
	plan
	// full tells that the plan has many objects.
	full bool

	mu         sync.Mutex
	violations []string
	namespaces []string
	operators  []*operator.Process
}

func newScene(t *testing.T, p plan, full bool) *scene {
	t.Helper()
	s := &scene{T: t, suite: startSuite(t), plan: p, full: full}
	t.Cleanup(func() {
		if t.Failed() {
			s.show()
		}
	})
	return s
}

// Errorf records a violation.
func (s *scene) Errorf(format string, args ...any) {
	s.Helper()
	s.violate(fmt.Sprintf(format, args...))
	s.T.Errorf(format, args...)
}

// Error records a violation.
func (s *scene) Error(args ...any) {
	s.Helper()
	s.violate(fmt.Sprint(args...))
	s.T.Error(args...)
}

// Fatalf records a violation and ends the plan.
func (s *scene) Fatalf(format string, args ...any) {
	s.Helper()
	s.Errorf(format, args...)
	s.FailNow()
}

// Fatal records a violation and ends the plan.
func (s *scene) Fatal(args ...any) {
	s.Helper()
	s.Error(args...)
	s.FailNow()
}

func (s *scene) violate(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = append(s.violations, what)
}

// size returns how many objects a plan has: in a sample, or in full.
func (s *scene) size(sample, full int) int {
	if s.full {
		return full
	}
	return sample
}

// show writes the state of the plan's applications and the end of its operators' logs to the test's log.
func (s *scene) show() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), patience)
	defer cancel()
	const most = 3
	for _, namespace := range s.namespaces {
		list := s.kind.list()
		if err := s.admin.List(ctx, list, client.InNamespace(namespace)); err != nil {
			s.Log(err)
		}
		apps, err := meta.ExtractList(list)
		for _, app := range apps[:min(most, len(apps))] {
			a, _ := app.(application)
			s.Logf("%s/%s, generation %d: %+v %v", namespace, a.GetName(), a.GetGeneration(), *a.AppStatus(), err)
		}
	}
	const lines = 40
	for i, op := range s.operators {
		log := strings.SplitAfter(op.Log(), "\n")
		s.Logf("log of operator %d:\n%s", i+1, strings.Join(log[max(0, len(log)-lines):], ""))
	}
}

// namespace makes a namespace of the plan.
func (s *scene) namespace(prefix string) string {
	s.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	s.create(namespace)
	s.namespaces = append(s.namespaces, namespace.Name)
	return namespace.Name
}

// options returns the options of the checkout's operator that runs as an account in the watched namespaces.
func (s *scene) options(a account, watch ...string) operator.Options {
	s.Helper()
	binary, err := s.binary(s.Context(), "platformapp", operator.BuildOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return operator.Options{
		Binary: binary, Kubeconfig: s.kubeconfig(a), Watch: strings.Join(watch, ","), Args: []string{"--metrics-secure=false"},
		Log: filepath.Join(s.scratch, a.namespace+"-"+a.name+".log"),
	}
}

// start starts an operator that ends with the plan, and waits until it is ready.
func (s *scene) start(o operator.Options) *operator.Process {
	s.Helper()
	op, err := operator.Start(s.Context(), o)
	if err != nil {
		s.Fatal(err)
	}
	s.watchOver(op)
	return op
}

// watchOver ends an operator with the plan, and fails that if the operator has panicked.
func (s *scene) watchOver(op *operator.Process) {
	s.operators = append(s.operators, op)
	s.Cleanup(func() {
		op.Kill()
		for _, line := range op.Errors() {
			if strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE") {
				s.Errorf("the operator has failed: %s", line)
			}
		}
	})
}

// terminate ends an operator by SIGTERM, which it obeys in time and without an error.
func (s *scene) terminate(op *operator.Process) {
	s.Helper()
	if err := op.Terminate(); err != nil {
		s.Error(err)
	}
}

// create creates objects.
func (s *scene) create(objects ...client.Object) {
	s.Helper()
	for _, object := range objects {
		if err := s.admin.Create(s.Context(), object); err != nil {
			s.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
}

// get reads the object of that name anew.
func (s *scene) get(object client.Object) {
	s.Helper()
	if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		s.Fatalf("get %T %s: %v", object, object.GetName(), err)
	}
}

// eventually ends the plan unless check passes in time.
func (s *scene) eventually(what string, check func(ctx context.Context) error) {
	s.Helper()
	s.within(patience, what, check)
}

// within ends the plan unless check passes in that time.
func (s *scene) within(limit time.Duration, what string, check func(ctx context.Context) error) {
	s.Helper()
	start := time.Now()
	for {
		ctx, cancel := context.WithTimeout(s.Context(), patience)
		err := check(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Since(start) > limit {
			s.Fatalf("not within %s: %s: %v", limit, what, err)
		}
		time.Sleep(pollInterval)
	}
}
