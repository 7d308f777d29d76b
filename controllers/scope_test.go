// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"platformapp/api/appstatus"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/controllers"
)

// startOperator runs the operator with its manager, as main does, until stop is called
// or the test ends. It sees to the given namespaces, or to all.
func startOperator(t *testing.T, requests *requestLog, namespaces ...string) (stop func()) {
	t.Helper()
	config := rest.CopyConfig(cluster)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return requests.countedBy(next) })
	return startOperatorAt(t, config, controllers.Options{MaxConcurrentReconciles: 8}, namespaces...)
}

// startOperatorAt runs the operator as startOperator does, with other options and at
// another cluster.
func startOperatorAt(t *testing.T, config *rest.Config, o controllers.Options, namespaces ...string) (stop func()) {
	t.Helper()
	options := controllers.ManagerOptions(namespaces)
	options.Scheme = scheme
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	// The names of controllers are unique in a process; here several operators share one.
	options.Controller.SkipNameValidation = new(true)
	mgr, err := manager.New(config, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	if err := controllers.SetupWithManager(ctx, mgr, o); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	running := true
	stop = func() {
		if cancel(); running {
			if err := <-stopped; err != nil {
				t.Errorf("the operator ends with %v", err)
			}
		}
		running = false
	}
	t.Cleanup(stop)
	return stop
}

// isRunning tells whether an application is Running, and plays the Deployment controller
// for it.
func (l *loop) isRunning(app *v1alpha1.EGApp) error {
	if err := l.user.Get(l.ctx, client.ObjectKeyFromObject(app), app); err != nil {
		return err
	}
	if app.Status.Phase == appstatus.PhaseRunning && app.Status.ObservedGeneration == app.Generation {
		return nil
	}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { return l.tryRollOut(app.Name) })
	return fmt.Errorf("%s is %s: %v (%w)", app.Name, app.Status.Phase, app.Status.Conditions, err)
}

func TestTheOperatorKeepsToItsNamespaces(t *testing.T) {
	for name, count := range map[string]int{"one namespace": 1, "several namespaces": 3} {
		t.Run(name, func(t *testing.T) {
			var inside []*loop
			var namespaces []string
			for range count {
				l := newUser(t)
				inside, namespaces = append(inside, l), append(namespaces, l.namespace)
			}
			outside := newUser(t)
			requests := &requestLog{}
			stop := startOperator(t, requests, namespaces...)

			stranger := ordersApp()
			outside.create(stranger)
			const apps = 10
			for _, l := range inside {
				var all []*v1alpha1.EGApp
				for i := range apps {
					app := ordersApp()
					app.Name, app.Spec.AppID = fmt.Sprintf("orders-%d", i), ""
					l.create(app)
					all = append(all, app)
				}
				for _, app := range all {
					eventually(t, func() error { return l.isRunning(app) })
				}
			}
			stop()

			for _, request := range requests.list() {
				if strings.Contains(request, "/namespaces/"+outside.namespace+"/") {
					t.Errorf("a request outside: %s", request)
				}
			}
			requests.mu.Lock()
			defer requests.mu.Unlock()
			for _, request := range requests.requests {
				for _, resource := range []string{
					"egapps", "demomicroservices", "deployments", "services", "pods", "replicasets", "configmaps", "horizontalpodautoscalers",
					"poddisruptionbudgets", "networkpolicies", "ingresses", "httproutes", "routes", "servicemonitors", "persistentvolumeclaims", "serviceaccounts",
				} {
					if strings.HasSuffix(request, "/"+resource) && !strings.Contains(request, "/namespaces/") {
						t.Errorf("a request for the whole cluster: %s", request)
					}
				}
			}
			outside.read(stranger)
			if meta.FindStatusCondition(stranger.Status.Conditions, appstatus.ConditionReady) != nil || outside.exists(foreignDeployment("orders")) {
				t.Error("an EGApp outside was seen to")
			}
		})
	}
}

// TestReadsSeeTheOperatorsOwnWrites counts the writes of many applications that start at
// once: a loop that reads a view from before its writes makes some of them twice.
func TestReadsSeeTheOperatorsOwnWrites(t *testing.T) {
	for name, count := range map[string]int{"one namespace": 1, "several namespaces": 3} {
		t.Run(name, func(t *testing.T) {
			var users []*loop
			var namespaces []string
			for range count {
				l := newUser(t)
				users, namespaces = append(users, l), append(namespaces, l.namespace)
			}
			requests := &requestLog{}
			stop := startOperator(t, requests, namespaces...)
			const apps = 60
			var all []*v1alpha1.EGApp
			for i := range apps {
				app := ordersApp()
				app.Name, app.Spec.AppID = fmt.Sprintf("orders-%d", i), ""
				users[i%count].create(app)
				all = append(all, app)
			}
			for i, app := range all {
				eventually(t, func() error { return users[i%count].isRunning(app) })
			}
			stop()
			perResource := map[string]int{}
			for _, request := range requests.list() {
				if strings.HasPrefix(request, "PATCH ") {
					parts := strings.Split(request, "/namespaces/")
					perResource[parts[1]]++
				}
			}
			for path, n := range perResource {
				isStatus := strings.HasSuffix(path, "/status")
				if !isStatus && n != 1 {
					t.Errorf("%s was written %d times, want once", path, n)
				}
				if isStatus && n > 3 {
					t.Errorf("%s was written %d times, want 2, and at most one more for counts", path, n)
				}
			}
		})
	}
}

func TestC29_ARestartWithAThousandIdleEGAppsWritesNothing(t *testing.T) {
	const apps = 1000
	l := newUser(t)
	stop := startOperator(t, &requestLog{}, l.namespace)
	var users errgroup.Group
	users.SetLimit(16)
	for i := range apps {
		users.Go(func() error { return l.runs(fmt.Sprintf("orders-%d", i)) })
	}
	l.must(users.Wait())
	stop()

	list := &v1alpha1.EGAppList{}
	l.must(l.user.List(l.ctx, list, client.InNamespace(l.namespace)))
	before := versions(list)
	requests, turns := &requestLog{}, turnsSoFar(t)
	startOperator(t, requests, l.namespace)
	eventually(t, func() error {
		if n := turnsSoFar(t) - turns; n < apps {
			return fmt.Errorf("only %v EGApps were looked at", n)
		}
		return nil
	})
	if n := requests.writes(); n != 0 {
		t.Errorf("%d writes after the restart: %v", n, requests.list())
	}
	l.must(l.user.List(l.ctx, list, client.InNamespace(l.namespace)))
	if diff := cmp.Diff(before, versions(list)); diff != "" {
		t.Errorf("EGApps were written:\n%s", diff)
	}
}

// runs creates an EGApp and returns when it is Running.
func (l *loop) runs(name string) error {
	app := ordersApp()
	app.Name, app.Namespace, app.Spec.AppID = name, l.namespace, ""
	if err := l.user.Create(l.ctx, app); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(l.ctx, 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return l.isRunning(app) == nil, nil
	})
}

// turnsSoFar is how many turns the loop for EGApps has ended in this process.
func turnsSoFar(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var turns float64
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == "egapp" {
					turns += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return turns
}
