// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	"platformapp/api/appstatus"
)

// A field that a cluster does not support yet is dropped by its API server on the way in.
// What comes of it is no drift: it is told, and nothing is written again and again.
func TestFieldsThatTheServerDropsAreAppliedOnce(t *testing.T) {
	t.Parallel()
	l := newLoop(t)
	app := ordersApp()
	set(t, app, `
probes:
  liveness: {httpGet: {port: http, protocol: HTTP2}}
  readiness: {grpc: {port: 8080, mode: TLS}}
podTemplatePatch:
  spec:
    containers:
    - name: main
      lifecycle: {postStart: {httpGet: {port: http, protocol: HTTP2}}}
    - {name: proxy, image: "proxy:1", livenessProbe: {grpc: {port: 9000, mode: TLS}}}
`)
	l.running(app)
	containers := l.deployment("orders").Spec.Template.Spec.Containers
	if containers[0].LivenessProbe.HTTPGet.Protocol != nil || containers[0].ReadinessProbe.GRPC.Mode != nil || containers[1].LivenessProbe.GRPC.Mode != nil {
		t.Fatal("this API server supports the fields: choose others")
	}
	if got := l.childWrites(); strings.Join(got, " ") != "deployments services" {
		t.Errorf("the writes of children until ready are %v", got)
	}
	if reason := reasonOf(app); reason != appstatus.ReasonReady {
		t.Errorf("it is %s: %s", reason, messageOf(app))
	}
	for _, field := range []string{"livenessProbe.httpGet.protocol", "readinessProbe.grpc.mode", "lifecycle.postStart.httpGet.protocol"} {
		if !strings.Contains(messageOf(app), field) {
			t.Errorf("%q does not tell of %s", messageOf(app), field)
		}
	}
	writes := l.requests.writes()
	for range 5 {
		// Every change of the object by others is a reason to compare anew.
		deployment := l.deployment("orders")
		deployment.Status.Conditions[0].Message += "."
		l.must(l.user.Status().Update(l.ctx, deployment))
		l.reconcile(app)
	}
	if n := l.requests.writes() - writes; n != 0 {
		t.Errorf("%d writes at rest: %v", n, l.requests.list())
	}
	version := l.deployment("orders").ResourceVersion
	restarted := l.restarted()
	restarted.reconcile(app)
	if n := restarted.requests.writes(); n > 1 || l.deployment("orders").ResourceVersion != version {
		t.Errorf("%d writes after a restart, want at most one apply that changes nothing: %v", n, restarted.requests.list())
	}
}
