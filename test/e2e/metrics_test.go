// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// fleetIsCounted reads what the operator itself counts: the applications by phase, how long they took, and its writes.
func fleetIsCounted(s *scene) {
	namespace := s.namespace("fleet")
	account := s.account("operator", namespace)
	op := s.start(operatorOptions{account: account, watch: namespace, args: []string{"--metrics-secure=false"}})
	running, stopped, service := newEGApp(namespace, "orders", 1), newEGApp(namespace, "quiet", 0), newDemoMicroService(namespace, "podinfo")
	s.create(running, stopped, service)
	s.ready(running, stopped, service)

	want := []string{
		`platformapp_applications\{environment="dev",framework="go",kind="EGApp",phase="Running"\} 1`,
		`platformapp_applications\{environment="dev",framework="go",kind="EGApp",phase="Stopped"\} 1`,
		`platformapp_applications\{environment="",framework="",kind="DemoMicroService",phase="Running"\} 1`,
		`platformapp_application_ready_seconds_count\{kind="EGApp"\} 1`,
		`platformapp_application_ready_seconds_count\{kind="DemoMicroService"\} 1`,
		// One more may come from what admission has rewritten.
		`platformapp_child_writes_total\{kind="Deployment",result="applied"\} [3-9]`,
		`platformapp_child_writes_total\{kind="Service",result="applied"\} [2-9]`,
	}
	s.eventually(shortWait, "the metrics count the fleet", func(ctx context.Context) error {
		metrics, err := op.Metrics(ctx)
		if err != nil {
			return err
		}
		for _, line := range want {
			if !regexp.MustCompile("(?m)^" + line + "$").MatchString(metrics) {
				return fmt.Errorf("no line is %s among:\n%s", line, ours(metrics))
			}
		}
		return nil
	})
	metrics, err := op.Metrics(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	for _, name := range []string{namespace, running.Name, stopped.Name, service.Name} {
		if strings.Contains(ours(metrics), name) {
			s.Errorf("a series names %s, of which there may be any number:\n%s", name, ours(metrics))
		}
	}
}

// ours returns the lines of the operator's own metrics.
func ours(metrics string) string {
	return strings.Join(regexp.MustCompile(`(?m)^platformapp_.*$`).FindAllString(metrics, -1), "\n")
}
