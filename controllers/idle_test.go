// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAReadyApplicationCostsNothing(t *testing.T) {
	t.Parallel()
	for name, app := range map[string]client.Object{"EGApp": ordersApp(), "DemoMicroService": podinfoService()} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			l.running(app)
			before := l.requests.list()
			for range 200 {
				if _, err := l.turn(app); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(before, l.requests.list()); diff != "" {
				t.Errorf("200 turns of a ready application make requests:\n%s", diff)
			}
		})
	}
}

func TestARestartWritesNothing(t *testing.T) {
	t.Parallel()
	for name, app := range map[string]client.Object{"EGApp": ordersApp(), "DemoMicroService": podinfoService()} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			l.running(app)
			restarted := l.restarted()
			restarted.reconcile(app)
			if n := restarted.requests.writes(); n != 0 {
				t.Errorf("%d writes after a restart: %v", n, restarted.requests.list())
			}
			select {
			case event := <-restarted.events.Events:
				t.Errorf("an event after a restart: %s", event)
			default:
			}
		})
	}
}

func TestTheWayToReadyTakesTheLeastWrites(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		app  client.Object
		want int
	}{
		"EGApp: two children, two status writes":         {ordersApp(), 4},
		"DemoMicroService: one child, two status writes": {podinfoService(), 3},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			l.running(test.app)
			if n := l.requests.writes(); n != test.want {
				t.Errorf("%d writes, want %d: %v", n, test.want, l.requests.list())
			}
		})
	}
}
