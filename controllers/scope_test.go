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
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
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
	_, stop = startManager(t, config, o, asIs, namespaces...)
	return stop
}

// startManager runs the operator as startOperatorAt does, with other options of its manager.
func startManager(
	t *testing.T, config *rest.Config, o controllers.Options, change func(*manager.Options), namespaces ...string,
) (mgr manager.Manager, stop func()) {
	t.Helper()
	apis := controllers.NewAPIs()
	options := controllers.ManagerOptions(namespaces, apis)
	options.Scheme = scheme
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	// The names of controllers are unique in a process; here several operators share one.
	options.Controller.SkipNameValidation = new(true)
	change(&options)
	mgr, err := manager.New(config, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	if err := controllers.SetupWithManager(ctx, mgr, apis, o); err != nil {
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
	return mgr, stop
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
	t.Parallel()
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
				l.playDeploymentController()
				for i := range apps {
					app := ordersApp()
					app.Name, app.Spec.AppID = fmt.Sprintf("orders-%d", i), ""
					l.create(app)
				}
			}
			for _, l := range inside {
				l.awaitRunning(apps)
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
	t.Parallel()
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
			for _, user := range users {
				user.playDeploymentController()
			}
			for i := range apps {
				app := ordersApp()
				app.Name, app.Spec.AppID = fmt.Sprintf("orders-%d", i), ""
				users[i%count].create(app)
			}
			for _, user := range users {
				user.awaitRunning(apps / count)
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

// It runs beside no other test, since it counts the turns of all operators of the process.
func TestC29_ARestartWithAThousandIdleEGAppsWritesNothing(t *testing.T) {
	const apps = 1000
	l := newUser(t)
	l.playDeploymentController()
	stop := startOperator(t, &requestLog{}, l.namespace)
	var users errgroup.Group
	users.SetLimit(16)
	for i := range apps {
		users.Go(func() error {
			app := ordersApp()
			app.Name, app.Namespace, app.Spec.AppID = fmt.Sprintf("orders-%d", i), l.namespace, ""
			return l.user.Create(l.ctx, app)
		})
	}
	l.must(users.Wait())
	l.awaitRunning(apps)
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

// watch tells of the objects of a kind in the namespace, those that are there at first.
func (l *loop) watch(list client.ObjectList) <-chan watch.Event {
	l.Helper()
	user, err := client.NewWithWatch(cluster, client.Options{Scheme: scheme, Mapper: mapper})
	l.must(err)
	events, err := user.Watch(l.ctx, list, client.InNamespace(l.namespace))
	l.must(err)
	l.Cleanup(events.Stop)
	return events.ResultChan()
}

// playDeploymentController rolls out each Deployment of the namespace, once for each change,
// until the test ends.
func (l *loop) playDeploymentController() {
	l.Helper()
	events := l.watch(&appsv1.DeploymentList{})
	go func() {
		for event := range events {
			deployment, ok := event.Object.(*appsv1.Deployment)
			if ok && event.Type != watch.Deleted && deployment.Status.ObservedGeneration < deployment.Generation {
				// If it has changed meanwhile another event tells of it.
				_ = l.updateRolledOut(deployment)
			}
		}
	}()
}

// awaitRunning returns when so many EGApps of the namespace are Running.
func (l *loop) awaitRunning(count int) {
	l.Helper()
	events, running := l.watch(&v1alpha1.EGAppList{}), map[string]bool{}
	late := time.After(3 * time.Minute)
	for len(running) < count {
		select {
		case event := <-events:
			app, ok := event.Object.(*v1alpha1.EGApp)
			if !ok {
				l.Fatalf("the watch ends with %v", event)
			}
			if app.Status.Phase == appstatus.PhaseRunning && app.Status.ObservedGeneration == app.Generation {
				running[app.Name] = true
			} else {
				delete(running, app.Name)
			}
		case <-late:
			l.Fatalf("only %d EGApps are Running, want %d", len(running), count)
		}
	}
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
