// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"platformapp/internal/profile"
)

// text tells a probe in one line: how it asks, and delay, timeout, period, successes,
// failures and grace period.
func text(p *corev1.Probe) string {
	if p == nil {
		return "none"
	}
	how := ""
	switch {
	case p.HTTPGet != nil:
		how = fmt.Sprintf("%s %s%s", p.HTTPGet.Scheme, p.HTTPGet.Port.String(), p.HTTPGet.Path)
	case p.TCPSocket != nil:
		how = "TCP " + p.TCPSocket.Port.String()
	case p.GRPC != nil:
		how = fmt.Sprintf("gRPC %d", p.GRPC.Port)
	case p.Exec != nil:
		how = fmt.Sprint(p.Exec.Command)
	}
	grace := "-"
	if p.TerminationGracePeriodSeconds != nil {
		grace = fmt.Sprint(*p.TerminationGracePeriodSeconds)
	}
	return fmt.Sprintf("%s %d/%d/%d/%d/%d/%s", how, p.InitialDelaySeconds, p.TimeoutSeconds, p.PeriodSeconds, p.SuccessThreshold, p.FailureThreshold, grace)
}

func TestProbesAreCompletedByThePreset(t *testing.T) {
	timing := func(p profile.ProbeTiming) string {
		return fmt.Sprintf("0/%d/%d/0/%d/-", p.TimeoutSeconds, p.PeriodSeconds, p.FailureThreshold)
	}
	java, goes := profile.Frameworks["java"], profile.Frameworks["go"]
	for _, test := range []struct{ name, spec, startup, readiness, liveness string }{
		{"left out", `{framework: java}`, "TCP 8080 " + timing(java.Startup), "TCP 8080 " + timing(java.Readiness), "none"},
		{"empty", `{framework: java, probes: {}}`, "TCP 8080 " + timing(java.Startup), "TCP 8080 " + timing(java.Readiness), "none"},
		{"an empty probe says nothing", `{probes: {liveness: {}, startup: {}}}`, "TCP 8080 " + timing(goes.Startup), "TCP 8080 " + timing(goes.Readiness), "none"},
		{"a path", `{framework: java, probes: {path: /health}}`, "HTTP 8080/health " + timing(java.Startup), "HTTP 8080/health " + timing(java.Readiness), "HTTP 8080/health " + timing(java.Liveness)},
		{
			"N16 single numbers", `{framework: java, probes: {path: /actuator/health, startup: {failureThreshold: 90, periodSeconds: 5}, liveness: {initialDelaySeconds: 0}}}`,
			"HTTP 8080/actuator/health 0/3/5/0/90/-", "HTTP 8080/actuator/health " + timing(java.Readiness), "HTTP 8080/actuator/health " + timing(java.Liveness),
		},
		{
			"N16 two paths", `{framework: java, probes: {path: /isready, liveness: {httpGet: {path: /isalive, port: http}}}}`,
			"HTTP 8080/isready " + timing(java.Startup), "HTTP 8080/isready " + timing(java.Readiness), "HTTP 8080/isalive " + timing(java.Liveness),
		},
		{"a number without a path", `{probes: {liveness: {periodSeconds: 7}}}`, "TCP 8080 " + timing(goes.Startup), "TCP 8080 " + timing(goes.Readiness), "TCP 8080 0/3/7/0/6/-"},
		{
			"every number", `{probes: {readiness: {initialDelaySeconds: 1, timeoutSeconds: 2, periodSeconds: 3, successThreshold: 4, failureThreshold: 5}, liveness: {terminationGracePeriodSeconds: 6}}}`,
			"TCP 8080 " + timing(goes.Startup), "TCP 8080 1/2/3/4/5/-", "TCP 8080 0/3/10/0/6/6",
		},
		{"the port named http", `{ports: [{name: admin, containerPort: 9000}, {name: http, containerPort: 8081}], probes: {path: /}}`, "HTTP 8081/ " + timing(goes.Startup), "HTTP 8081/ " + timing(goes.Readiness), "HTTP 8081/ " + timing(goes.Liveness)},
		{"the first TCP port", `{ports: [{name: dns, containerPort: 53, protocol: UDP}, {name: web, containerPort: 8082}, {name: more, containerPort: 8083}]}`, "TCP 8082 " + timing(goes.Startup), "TCP 8082 " + timing(goes.Readiness), "none"},
		{"a port by name", `{ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9000}], probes: {port: admin}}`, "TCP 9000 " + timing(goes.Startup), "TCP 9000 " + timing(goes.Readiness), "none"},
		{"UDP alone", `{ports: [{name: dns, containerPort: 53, protocol: UDP}]}`, "none", "none", "none"},
		{"UDP alone, asked otherwise", `{ports: [{name: dns, containerPort: 53, protocol: UDP}], probes: {readiness: {exec: {command: [ok]}}}}`, "none", "[ok] " + timing(goes.Readiness), "none"},
		{"a worker", `{service: {type: None}}`, "none", "none", "none"},
		{"a worker that is asked", `{service: {type: None}, probes: {liveness: {exec: {command: [ok]}}, readiness: {httpGet: {path: /ok, port: 8088}}}}`, "none", "HTTP 8088/ok " + timing(goes.Readiness), "[ok] " + timing(goes.Liveness)},
		{"named ports become numbers", `{ports: [{name: grpc, containerPort: 9090}, {name: admin, containerPort: 9090, servicePort: 9091}], probes: {liveness: {tcpSocket: {port: admin}}, readiness: {grpc: {port: 9090}}}}`, "TCP 9090 " + timing(goes.Startup), "gRPC 9090 " + timing(goes.Readiness), "TCP 9090 " + timing(goes.Liveness)},
		{"HTTPS", `{probes: {readiness: {httpGet: {scheme: HTTPS, port: 8443}}}}`, "TCP 8080 " + timing(goes.Startup), "HTTPS 8443/ " + timing(goes.Readiness), "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := translated(t, test.spec).Container
			for _, probe := range []struct {
				name string
				got  *corev1.Probe
				want string
			}{{"startup", c.Startup, test.startup}, {"readiness", c.Readiness, test.readiness}, {"liveness", c.Liveness, test.liveness}} {
				if got := text(probe.got); got != probe.want {
					t.Errorf("%s is %s, want %s", probe.name, got, probe.want)
				}
			}
		})
	}
}

// A rollout must not be given up while a pod may still be starting.
func TestDeadlineLeavesAPodItsTimeToStart(t *testing.T) {
	for spec, want := range map[string]int32{
		`{}`:                                   600,
		`{environment: prod, framework: java}`: 900,
		`{probes: {startup: {failureThreshold: 200, periodSeconds: 10}}}`:                                             2060,
		`{environment: prod, probes: {startup: {failureThreshold: 200, periodSeconds: 10, initialDelaySeconds: 30}}}`: 2100,
		`{probes: {startup: {failureThreshold: 2000000000, periodSeconds: 2000000000}}}`:                              1<<31 - 1,
		`{rollout: {progressDeadlineSeconds: 120}}`:                                                                   120,
		`{rollout: {progressDeadlineSeconds: 30}, probes: {startup: {failureThreshold: 2000}}}`:                       30,
	} {
		if got := translated(t, spec).Rollout.ProgressDeadlineSeconds; got != want {
			t.Errorf("%s has a deadline of %d s, want %d", spec, got, want)
		}
	}
}
