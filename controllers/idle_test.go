// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"net/http"
	"strings"
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
			if asked := restarted.asked(); len(asked) > 0 {
				t.Errorf("the API server is asked after a restart: %v", asked)
			}
			select {
			case event := <-restarted.events.Events:
				t.Errorf("an event after a restart: %s", event)
			default:
			}
		})
	}
}

// asked returns the requests so far for an application itself, beside those that fill the cache.
func (l *loop) asked() []string {
	var asked []string
	for _, request := range l.requests.list() {
		isNamed := strings.Contains(request, "/egapps/") || strings.Contains(request, "/demomicroservices/")
		if isNamed && strings.HasPrefix(request, http.MethodGet) {
			asked = append(asked, request)
		}
	}
	return asked
}

// The first change that a process carries out takes one look whether the application still is what was read, also when it is
// one of several children; the changes after that take none, but for those that make or delete a child.
func TestAProcessAsksForAnApplicationOnce(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	l.running(app)
	restarted := l.restarted()
	for _, test := range []struct {
		change string
		asks   int
	}{
		{"image: registry.example.com/orders:2\nports: [{name: http, containerPort: 9000}]", 1},
		{"image: registry.example.com/orders:3\nports: [{name: http, containerPort: 9001}]", 1},
		{"networkPolicy: {isolation: Namespace}", 2},
		{"image: registry.example.com/orders:4", 2},
		{"networkPolicy: null", 3},
	} {
		l.change(app, func() { set(t, app, test.change) })
		restarted.reconcile(app)
		if asked := restarted.asked(); len(asked) != test.asks {
			t.Errorf("after %q the API server was asked %d times, want %d: %v", test.change, len(asked), test.asks, asked)
		}
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
			if asked := l.asked(); len(asked) > 0 {
				t.Errorf("the API server is asked: %v", asked)
			}
		})
	}
}
