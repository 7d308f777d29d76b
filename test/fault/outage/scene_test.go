// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	"platformapp/test/operator"
)

const (
	pollInterval = 100 * time.Millisecond
	// patience bounds every wait for what is not measured: enough for a machine that does much else.
	patience = 3 * time.Minute
)

// scene is where a plan is carried out.
type scene struct {
	*testing.T
	*site
	plan plan

	// isInjected tells that the plan was carried out to its end.
	isInjected bool
	mu         sync.Mutex
	violations []violation
}

// application is an object of one of the kinds that the operator serves.
type application interface {
	client.Object
	AppStatus() *appstatus.Status
}

// must ends the test on an error.
func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// newNamespace makes a namespace of the plan.
func (s *scene) newNamespace(prefix string) string {
	s.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	s.must(s.admin.Create(s.Context(), namespace))
	// Admission refuses pods until the control plane has made the namespace's service account.
	s.eventually(patience, "the namespace takes pods", func(ctx context.Context) error {
		return s.admin.Get(ctx, client.ObjectKey{Namespace: namespace.Name, Name: "default"}, &corev1.ServiceAccount{})
	})
	return namespace.Name
}

// startOperator starts an operator for some namespaces, with the rights that config/rbac gives there. It serves its metrics
// to everybody.
func (s *scene) startOperator(namespaces []string, args ...string) (*kubelet, account) {
	s.Helper()
	a, err := s.newAccount(s.Context(), namespaces[0], managerRole)
	s.must(err)
	for _, namespace := range namespaces[1:] {
		s.must(s.admin.Create(s.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: a.name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: managerRole},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.namespace, Name: a.name}},
		}))
	}
	return startKubelet(s.T, s.operatorOptions(a, namespaces, args...)), a
}

// operatorOptions are those of an operator that works as an account.
func (s *scene) operatorOptions(a account, namespaces []string, args ...string) operator.Options {
	s.Helper()
	config, err := s.configOf(s.Context(), a)
	s.must(err)
	dir := s.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	s.must(operator.Kubeconfig(kubeconfig, config))
	return operator.Options{
		Binary: s.binary, Kubeconfig: kubeconfig, Watch: strings.Join(namespaces, ","), Log: filepath.Join(dir, "operator.log"),
		Args: append([]string{"--metrics-secure=false"}, args...),
	}
}

// eventually ends the test unless check passes in time, and returns how long that took.
func (s *scene) eventually(within time.Duration, what string, check func(ctx context.Context) error) time.Duration {
	s.Helper()
	start := time.Now()
	for {
		ctx, cancel := context.WithTimeout(s.Context(), within)
		err := check(ctx)
		cancel()
		if err == nil {
			return time.Since(start)
		}
		if time.Since(start) > within {
			s.Fatalf("not within %s: %s: %v", within, what, err)
		}
		time.Sleep(pollInterval)
	}
}

// reports fails unless the application's Ready condition is of its present generation and has one of the reasons.
func (s *scene) reports(ctx context.Context, app application, reasons ...string) error {
	_, err := s.condition(ctx, app, reasons...)
	return err
}

// condition returns the Ready condition of an application and fails as reports does.
func (s *scene) condition(ctx context.Context, app application, reasons ...string) (*metav1.Condition, error) {
	if err := s.admin.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
		return nil, err
	}
	ready := meta.FindStatusCondition(app.AppStatus().Conditions, appstatus.ConditionReady)
	switch {
	case ready == nil:
		return nil, errors.New("it has no condition")
	case ready.ObservedGeneration != app.GetGeneration():
		return nil, fmt.Errorf("the condition is that of generation %d, want %d", ready.ObservedGeneration, app.GetGeneration())
	}
	if slices.Contains(reasons, ready.Reason) {
		return ready, nil
	}
	return nil, fmt.Errorf("%T %s: Ready=%s %s: %s", app, app.GetName(), ready.Status, ready.Reason, ready.Message)
}

// awaitReports waits until the application reports one of the reasons, ends the test if it does not, and returns how long
// that took.
func (s *scene) awaitReports(app application, reasons ...string) time.Duration {
	s.Helper()
	_, took := s.awaitCondition(app, reasons...)
	return took
}

// awaitCondition waits as awaitReports does and returns the condition too.
func (s *scene) awaitCondition(app application, reasons ...string) (ready *metav1.Condition, took time.Duration) {
	s.Helper()
	what := fmt.Sprintf("%T %s reports %s", app, app.GetName(), strings.Join(reasons, " or "))
	took = s.eventually(patience, what, func(ctx context.Context) (err error) {
		ready, err = s.condition(ctx, app, reasons...)
		return err
	})
	return ready, took
}

// create creates applications and other objects.
func (s *scene) create(objects ...client.Object) {
	s.Helper()
	for _, object := range objects {
		if err := s.admin.Create(s.Context(), object); err != nil {
			s.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
}

// edit changes an object, read anew each time that somebody else was faster.
func (s *scene) edit(object client.Object, change func()) {
	s.Helper()
	if err := s.tryEdit(object, change); err != nil {
		s.Fatalf("edit %T %s: %v", object, object.GetName(), err)
	}
}

func (s *scene) tryEdit(object client.Object, change func()) error {
	// In a storm of writes of others it may take a while.
	tries := wait.Backoff{Steps: 200, Duration: 20 * time.Millisecond, Factor: 1, Jitter: 1}
	return retry.RetryOnConflict(tries, func() error {
		if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change()
		return s.admin.Update(s.Context(), object)
	})
}

// remove deletes an object in the background, as kubectl does.
func (s *scene) remove(object client.Object) {
	s.Helper()
	if err := s.admin.Delete(s.Context(), object, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		s.Fatalf("delete %T %s: %v", object, object.GetName(), err)
	}
}

// uidOf returns the UID of an object, or nothing when it is not there.
func (s *scene) uidOf(object client.Object) types.UID {
	s.Helper()
	err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(object), object)
	if client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	if err != nil {
		return ""
	}
	return object.GetUID()
}

// pauseFor waits for a time.
func (s *scene) pauseFor(d time.Duration) {
	select {
	case <-s.Context().Done():
	case <-time.After(d):
	}
}
