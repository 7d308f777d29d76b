// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// How long the tests wait at most: for one step of the operator or of OLM, and for what goes through many of them, on
// a real cluster with the pull of an image. Enough for a machine that does much else.
const (
	shortWait    = 30 * time.Second
	longWait     = 4 * time.Minute
	pollInterval = 200 * time.Millisecond
)

// scene is a test on a cluster.
type scene struct {
	*testing.T
	*suite
}

// Context returns one that what is cleaned up after the test can use too.
func (s *scene) Context() context.Context { return context.WithoutCancel(s.T.Context()) }

// in returns the scene for a subtest.
func (s *scene) in(t *testing.T) *scene { return &scene{t, s.suite} }

// eventually ends the test unless check passes in time.
func (s *scene) eventually(within time.Duration, what string, check func() error) {
	s.Helper()
	start := time.Now()
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Since(start) > within {
			s.Fatalf("not within %s: %s: %v", within, what, err)
		}
		time.Sleep(pollInterval)
	}
}

// namespace makes a namespace, which ends with the test.
func (s *scene) namespace(prefix string) string {
	s.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	s.create(namespace)
	s.Cleanup(func() { s.deleteNow(namespace) })
	return namespace.Name
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

// deleteNow deletes an object; one that is gone is no error.
func (s *scene) deleteNow(object client.Object) {
	s.Helper()
	err := s.admin.Delete(s.Context(), object, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		s.Errorf("delete %T %s: %v", object, object.GetName(), err)
	}
}

// get reads the object of that name anew.
func (s *scene) get(object client.Object) {
	s.Helper()
	if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		s.Fatalf("get %T %s: %v", object, object.GetName(), err)
	}
}

// isGone waits until the object is not there any more.
func (s *scene) isGone(object client.Object) {
	s.Helper()
	s.eventually(longWait, fmt.Sprintf("%T %s is gone", object, object.GetName()), func() error {
		err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is still there"), err)
	})
}

// isEstablished waits until a CustomResourceDefinition is served.
func (s *scene) isEstablished(name string) {
	s.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.eventually(shortWait, "the API server serves "+name, func() error {
		if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
			return err
		}
		if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
			return nil
		}
		return errors.New("it is not established")
	})
}

// terminate ends a manager, also at the end of a test, and shows its log when the test has failed.
func (s *scene) terminate(m *manager) {
	s.Helper()
	if err := m.terminate(); err != nil {
		s.Error(err)
	}
	if s.Failed() {
		s.Logf("log of the manager of pod %s:\n%s", m.pod.Name, tail(m.Log()))
	}
}

// tail returns the last lines of a log.
func tail(log string) string {
	const lines = 60
	all := strings.SplitAfter(log, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}
