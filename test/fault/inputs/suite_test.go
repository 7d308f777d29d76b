// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/localcluster"
	"platformapp/internal/testutil"
	"platformapp/internal/workload"
	"platformapp/test/operator"
)

const (
	// freshNamespace holds applications that are made as they are to be, walkNamespace those that change.
	freshNamespace, walkNamespace = "namespace-fresh", "namespace-walk"
	// settleTimeout bounds the way of an application to its rest on a machine that does much else.
	settleTimeout = 3 * time.Minute
	// startTimeout bounds the start of everything, the build of the operator included.
	startTimeout = 10 * time.Minute
)

// suite is an API server with the operator before it.
type suite struct {
	server   *server
	store    *store
	operator *operator.Process
	options  operator.Options
	kinds    map[string]Kind
	seeds    []Seed

	// restless counts what came to no rest.
	restless atomic.Int64

	mu sync.Mutex
	// outcomes of states, by their text.
	outcomes map[string]*outcome
	// plans are the names of the applications that were made, by what they were made for.
	plans map[string]string
	made  int
}

// startSuite starts everything; it ends with the test.
func startSuite(t *testing.T) *suite {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	t.Cleanup(cancel)
	s := &suite{outcomes: map[string]*outcome{}, plans: map[string]string{}}
	s.kinds, s.seeds = readAll(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if assets == nil {
		assets, err = localcluster.NewAssets(ctx, os.Stderr)
		must(err)
	}
	crds, err := testutil.OptionalCRDs(ctx)
	must(err)
	definitions := append(slices.Sorted(maps.Values(crds)), filepath.Join("..", "..", "..", "config", "crd", "bases"))
	environment := testutil.NewEnvironment(assets.Dir, definitions...)
	config, err := environment.Start()
	must(err)
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	config.QPS = -1
	s.server, err = newServer(config)
	must(err)
	c, err := client.New(config, client.Options{})
	must(err)
	must(makeSurroundings(ctx, c))
	must(s.makeUnreadable(ctx))

	following, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	player := newPlayer(following, c)
	t.Cleanup(func() {
		stop()
		player.done.Wait()
	})
	s.store, err = follow(following, config, s.kinds, []string{freshNamespace, walkNamespace}, player.see)
	must(err)

	s.options = operator.Options{
		Binary: filepath.Join(assets.Dir, "platformapp"), Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"),
		Watch: freshNamespace + "," + walkNamespace, Args: []string{"--metrics-secure=false"},
		Log: filepath.Join(t.TempDir(), "operator.log"),
	}
	must(operator.Build(ctx, operator.BuildOptions{Output: s.options.Binary}))
	must(operator.Kubeconfig(s.options.Kubeconfig, config))
	s.operator, err = operator.Start(ctx, s.options)
	must(err)
	t.Cleanup(func() { s.operator.Kill() })
	return s
}

// makeSurroundings makes the namespaces and what the seeds refer to.
func makeSurroundings(ctx context.Context, c client.Client) error {
	var errs []error
	for _, namespace := range []string{freshNamespace, walkNamespace} {
		errs = append(errs, c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
		for _, object := range []client.Object{
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"level": "info"}},
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
				Name: "robot", Annotations: map[string]string{workload.AnnotationAllowEGApps: "true"},
			}},
			&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceStorage: resource.MustParse("1Gi"),
				}},
			}},
		} {
			object.SetNamespace(namespace)
			errs = append(errs, c.Create(ctx, object))
		}
	}
	return errors.Join(errs...)
}

// unreadable is a ServiceMonitor that the API server stores, and that its Go type cannot hold; it looks as if it were the
// operator's.
const unreadable = `{
	"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor",
	"metadata": {"name": "unreadable", "labels": {"platform.evillgenius.com/managed-by": "platformapp"}},
	"spec": {"selector": {}, "endpoints": [{"targetPort": 9223372036854775807}]}
}`

// makeUnreadable makes what must not keep the operator from anything.
func (s *suite) makeUnreadable(ctx context.Context) error {
	kind := Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"},
		Resource:         "servicemonitors",
	}
	a, err := s.server.create(ctx, kind, walkNamespace, []byte(unreadable))
	if err == nil && !a.isAccepted() {
		err = fmt.Errorf("the API server does not store what cannot be read: %d %s", a.code, a.message)
	}
	return err
}

// patience is how long an application may take to its rest. When many have not come to theirs, the operator does not work,
// and all that is left is to say so.
func (s *suite) patience() time.Duration {
	if s.restless.Load() > 20 {
		return 10 * time.Second
	}
	return settleTimeout
}

// newName returns the name of a new application, which occurs nowhere else, and remembers the plan that it is for.
func (s *suite) newName(plan string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	name := fmt.Sprintf("zq%05dx", s.made)
	s.plans[name] = plan
	return name
}

// restart ends the operator as Kubernetes does, starts it anew, and returns when it has looked at everything once.
func (s *suite) restart(ctx context.Context) error {
	if err := s.operator.Terminate(); err != nil {
		return err
	}
	var err error
	if s.operator, err = operator.Start(ctx, s.options); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for {
		looked, err := s.operator.Sum(ctx, "controller_runtime_reconcile_total", nil)
		if err != nil {
			return err
		}
		waiting, err := s.operator.Sum(ctx, "workqueue_depth", nil)
		if err != nil {
			return err
		}
		working, err := s.operator.Sum(ctx, "workqueue_unfinished_work_seconds", nil)
		if err != nil {
			return err
		}
		if int(looked) >= len(s.store.versions()) && waiting == 0 && working == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after the restart the operator has looked %d times at %d applications: %w",
				int(looked), len(s.store.versions()), ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// versionsRest is how long no version may change for what is followed to have caught up.
const versionsRest = 2 * time.Second

// settledVersions returns the versions of all that is followed once they do not change any more: each kind is followed by
// a watch of its own, of which one may be behind another. What never rests is returned as it is after the longest wait.
func (s *suite) settledVersions(ctx context.Context) map[key]map[string]string {
	last, since := s.store.versions(), time.Now()
	for deadline := time.Now().Add(settleTimeout); time.Since(since) < versionsRest && time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return last
		case <-time.After(pollInterval):
		}
		if now := s.store.versions(); !maps.EqualFunc(now, last, maps.Equal[map[string]string, map[string]string]) {
			last, since = now, time.Now()
		}
	}
	return last
}

// pollInterval is how often the operator is asked what it does.
const pollInterval = 200 * time.Millisecond

// errorsOf returns what the operator logged as errors, by the application that they name.
func (s *suite) errorsOf() map[string][]string {
	found := map[string][]string{}
	for _, line := range s.operator.Errors() {
		name := ""
		if i := strings.Index(line, "zq"); i >= 0 && i+8 <= len(line) {
			name = line[i : i+8]
		}
		found[name] = append(found[name], line[:min(len(line), 1000)])
	}
	return found
}
