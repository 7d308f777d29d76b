// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	devopsv1 "platformapp/api/devops/v1"
)

// mostAllocations is the most that a turn may take that finds nothing to do, by what atRest holds. The project's budget
// for the plain EGApp has 600 as its floor.
var mostAllocations = map[string]float64{
	"EGApp":                  500,
	"EGApp with pods":        540,
	"EGApp with everything":  6000,
	"EGApp of one namespace": 520,
	"DemoMicroService":       270,
}

// atRest are applications that serve, by what they are.
var atRest = map[string]func(testing.TB) (*loop, client.Object){
	"EGApp": func(tb testing.TB) (*loop, client.Object) {
		tb.Helper()
		l, app := newLoop(tb, inAllNamespaces()), ordersApp()
		l.running(app)
		return l, app
	},
	"EGApp with pods": func(tb testing.TB) (*loop, client.Object) {
		tb.Helper()
		l, app := newLoop(tb, inAllNamespaces()), ordersApp()
		l.running(app)
		replicaSet := l.replicaSet("orders", "1")
		for _, name := range []string{"orders-a", "orders-b", "orders-c"} {
			l.pod(replicaSet, name, servingPod())
		}
		l.reconcile(app)
		return l, app
	},
	"EGApp with everything": func(tb testing.TB) (*loop, client.Object) {
		tb.Helper()
		l := newLoop(tb, inAllNamespaces(), onPlatform(false, "ServiceMonitor"))
		l.withEverything()
		app := everythingApp(tb)
		l.running(app)
		l.rollOut("orders")
		l.reconcile(app)
		return l, app
	},
	"EGApp of one namespace": func(tb testing.TB) (*loop, client.Object) {
		tb.Helper()
		l, app := newLoop(tb), ordersApp()
		l.running(app)
		return l, app
	},
	"DemoMicroService": func(tb testing.TB) (*loop, client.Object) {
		tb.Helper()
		l, app := newLoop(tb, inAllNamespaces()), podinfoService()
		l.running(app)
		return l, app
	},
}

// noOp returns one turn for an application at rest.
func noOp(l *loop, app client.Object) func() {
	reconciler, request := l.egapps, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)}
	if _, ok := app.(*devopsv1.DemoMicroService); ok {
		reconciler = l.services
	}
	return func() {
		if result, err := reconciler.Reconcile(l.ctx, request); err != nil || result.RequeueAfter > 0 {
			l.Fatalf("a turn at rest ends with %v, %v", result, err)
		}
	}
}

// BenchmarkReconcileAtRest is what an event that changes nothing costs.
func BenchmarkReconcileAtRest(b *testing.B) {
	for name, prepare := range atRest {
		b.Run(name, func(b *testing.B) {
			turn := noOp(prepare(b))
			b.ReportAllocs()
			for b.Loop() {
				turn()
			}
		})
	}
}

// It cannot run beside other tests, whose allocations would count.
func TestATurnAtRestTakesFewAllocations(t *testing.T) {
	for name, prepare := range atRest {
		t.Run(name, func(t *testing.T) {
			most, ok := mostAllocations[name]
			if got := testing.AllocsPerRun(200, noOp(prepare(t))); !ok || got > most {
				t.Errorf("%.0f allocations, at most %.0f", got, most)
			}
		})
	}
}
