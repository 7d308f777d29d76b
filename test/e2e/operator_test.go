// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"platformapp/test/operator"
)

const pollInterval = 100 * time.Millisecond

// operatorOptions say how an operator is run.
type operatorOptions struct {
	// account whose rights it has.
	account account
	// watch is its WATCH_NAMESPACE.
	watch string
	args  []string
	// webhookPort is where it serves the webhook; the default is any.
	webhookPort int
}

// launch starts an operator and returns when it is ready.
func (s *suite) launch(ctx context.Context, name string, o operatorOptions) (*operator.Process, error) {
	kubeconfig, err := s.kubeconfigFor(ctx, o.account)
	if err != nil {
		return nil, err
	}
	return operator.Start(ctx, operator.Options{
		Binary: s.binary, Kubeconfig: kubeconfig, Watch: o.watch, Args: o.args, WebhookPort: o.webhookPort,
		Log: filepath.Join(s.scratch, name+".log"),
	})
}

// tail returns the last lines of the log that hold one of the words; without words, the last of all.
func tail(op *operator.Process, words []string) string {
	const lines = 40
	var kept []string
	for line := range strings.Lines(op.Log()) {
		contains := func(word string) bool { return strings.Contains(line, word) }
		if len(words) == 0 || slices.ContainsFunc(words, contains) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-lines):], "")
}

// tolerated errors come from outside: client-go's leader election ends by this one when it is asked to; and the API
// server may be slow.
var tolerated = []string{"leader election lost", "timed out", "timeout"}

// checkLog fails when the operator has logged an error; with namespaces, one that names one of them.
func checkLog(op *operator.Process, namespaces []string) error {
	found := slices.DeleteFunc(op.Errors(), func(line string) bool {
		names := func(word string) bool { return strings.Contains(line, word) }
		return slices.ContainsFunc(tolerated, names) || (len(namespaces) > 0 && !slices.ContainsFunc(namespaces, names))
	})
	if len(found) > 0 {
		return fmt.Errorf("the operator logged %d errors:\n%s", len(found), strings.Join(found[:min(len(found), 10)], ""))
	}
	return nil
}

// sharedOperator returns the operator for all namespaces and starts it unless it runs.
func (s *suite) sharedOperator(t *testing.T) *operator.Process {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		op, err := s.launch(t.Context(), "shared", operatorOptions{account: installedAccount})
		if err != nil {
			t.Fatal(err)
		}
		s.shared = op
	}
	if !s.shared.Runs() {
		t.Fatalf("the shared operator has ended: %v\n%s", s.shared.Err(), tail(s.shared, nil))
	}
	return s.shared
}

// stopShared stops the shared operator, if it runs, so that it does not meddle with what comes.
func (s *suite) stopShared() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		return nil
	}
	err := errors.Join(s.shared.Terminate(), checkLog(s.shared, nil))
	s.shared = nil
	return err
}
