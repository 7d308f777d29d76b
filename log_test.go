// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// terminating is what the API server answers to a write in a namespace that is being deleted.
func terminating() error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "orders", errors.New("because it is being terminated"))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
	return err
}

func TestLogTellsAnErrorInOneLineAndWhatIsExpectedAsInformation(t *testing.T) {
	var out bytes.Buffer
	o, err := parseOptions(nil, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	o.zap.DestWriter = &out
	log := newLogger(&o.zap).WithName("events").WithValues("kind", "EGApp")
	log.Error(errors.New("refused"), "cannot write", "name", "orders")
	log.Error(terminating(), "cannot write", "name", "orders")
	cancelled := fmt.Errorf("get lease: %w", &url.Error{Op: "Get", URL: "https://cluster", Err: context.Canceled})
	log.Error(cancelled, "cannot read", "name", "orders")
	log.Error(fmt.Errorf("get lease: %w", context.DeadlineExceeded), "cannot read", "name", "orders")
	log.Info("hello")
	log.V(1).Info("details")

	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []map[string]any{
		{"level": "error", "logger": "events", "msg": "cannot write", "kind": "EGApp", "name": "orders", "error": "refused"},
		{"level": "info", "logger": "events", "msg": "cannot write", "kind": "EGApp", "name": "orders", "reason": terminating().Error()},
		{"level": "info", "logger": "events", "msg": "cannot read", "kind": "EGApp", "name": "orders", "reason": cancelled.Error()},
		{"level": "error", "logger": "events", "msg": "cannot read", "kind": "EGApp", "name": "orders", "error": "get lease: context deadline exceeded"},
		{"level": "info", "logger": "events", "msg": "hello", "kind": "EGApp"},
	}
	if len(lines) != len(want) {
		t.Fatalf("the log has %d lines, want %d:\n%s", len(lines), len(want), out.String())
	}
	for i, line := range lines {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		for key, value := range want[i] {
			if got[key] != value {
				t.Errorf("line %d has %s %v, want %v", i+1, key, got[key], value)
			}
		}
		if _, traced := got["stacktrace"]; traced {
			t.Errorf("line %d has a stack trace", i+1)
		}
	}
}

// S13. From verbosity 8 on client-go logs what it sends and gets: the variables of every application, and more.
func TestNoVerbosityLogsWhatIsSent(t *testing.T) {
	for _, args := range [][]string{{"--zap-log-level=10"}, {"--zap-log-level=127"}, {"--zap-devel", "--zap-log-level=100"}} {
		o, err := parseOptions(args, environment(nil))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		o.zap.DestWriter = &out
		log := newLogger(&o.zap).WithName("client").WithValues("kind", "EGApp")
		log.V(7).Info("told")
		for verbosity := 8; verbosity <= 10; verbosity++ {
			if log.V(verbosity).Enabled() {
				t.Errorf("%v: verbosity %d is enabled", args, verbosity)
			}
			log.V(verbosity).Info("body")
			log.V(verbosity - 4).V(4).Info("body")
		}
		if got := out.String(); !strings.Contains(got, "told") || strings.Contains(got, "body") {
			t.Errorf("%v: the log is\n%s", args, got)
		}
	}
}
