// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"platformapp/internal/localcluster"
)

const (
	// readyTimeout bounds an operator's way to readiness, terminationTimeout its way to its end.
	readyTimeout       = 30 * time.Second
	terminationTimeout = 25 * time.Second
	// operatorAttempts is how often an operator is started when another process takes one of its ports.
	operatorAttempts = 3
	pollInterval     = 100 * time.Millisecond
)

// operatorOptions say how an operator is run.
type operatorOptions struct {
	// account whose rights it has.
	account account
	// watch is its WATCH_NAMESPACE.
	watch string
	args  []string
}

// operator is a process of the operator.
type operator struct {
	cmd     *exec.Cmd
	logPath string
	// probes and metrics are the addresses that it serves them at.
	probes, metrics string
	ended           chan struct{}
	err             error
}

// launch starts an operator and returns when it is ready.
func (s *suite) launch(ctx context.Context, name string, o operatorOptions) (*operator, error) {
	for attempt := 1; ; attempt++ {
		op, err := s.launchOnce(ctx, fmt.Sprintf("%s-%d", name, attempt), o)
		if err == nil || attempt == operatorAttempts || op == nil || !strings.Contains(op.log(), "address already in use") {
			return op, err
		}
	}
}

func (s *suite) launchOnce(ctx context.Context, name string, o operatorOptions) (*operator, error) {
	kubeconfig, err := s.kubeconfigFor(ctx, o.account)
	if err != nil {
		return nil, err
	}
	ports, err := localcluster.FreePorts(2)
	if err != nil {
		return nil, err
	}
	op := &operator{
		logPath: filepath.Join(s.scratch, name+".log"),
		probes:  fmt.Sprintf("127.0.0.1:%d", ports[0]),
		metrics: fmt.Sprintf("127.0.0.1:%d", ports[1]),
		ended:   make(chan struct{}),
	}
	// A restarted operator goes on in the log.
	log, err := os.OpenFile(op.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	args := append([]string{"--metrics-bind-address=" + op.metrics, "--health-probe-bind-address=" + op.probes}, o.args...)
	op.cmd = exec.Command(s.binary, args...)
	op.cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "WATCH_NAMESPACE=" + o.watch}
	op.cmd.Stdout, op.cmd.Stderr = log, log
	// Ctrl-C is for the test, which then ends the operator.
	op.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := op.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		op.err = op.cmd.Wait()
		close(op.ended)
	}()
	return op, op.waitUntilReady(ctx)
}

func (op *operator) waitUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		_, err := get(ctx, http.DefaultClient, "http://"+op.probes+"/readyz", "")
		if err == nil {
			return nil
		}
		select {
		case <-op.ended:
			return fmt.Errorf("the operator has ended: %w\n%s", op.err, op.log())
		case <-ctx.Done():
			op.kill()
			return fmt.Errorf("the operator is not ready after %s: %w\n%s", readyTimeout, err, op.log())
		case <-time.After(pollInterval):
		}
	}
}

// get returns the body of an answer 200, and an error for any other.
func get(ctx context.Context, c *http.Client, url, token string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := c.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s says %s: %s", url, response.Status, body)
	}
	return string(body), nil
}

// kill ends the operator at once, as a machine does that loses power.
func (op *operator) kill() {
	_ = op.cmd.Process.Kill()
	<-op.ended
}

// terminate asks the operator to end, as Kubernetes does, and fails unless it does so in time and without an error.
func (op *operator) terminate() error {
	if !op.runs() {
		return fmt.Errorf("the operator has ended before it was asked to: %w", op.err)
	}
	if err := op.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-op.ended:
	case <-time.After(terminationTimeout):
		op.kill()
		return fmt.Errorf("the operator did not end within %s of SIGTERM", terminationTimeout)
	}
	if op.err != nil {
		return fmt.Errorf("the operator ended on SIGTERM with an error: %w", op.err)
	}
	return nil
}

func (op *operator) runs() bool {
	select {
	case <-op.ended:
		return false
	default:
		return true
	}
}

func (op *operator) log() string {
	content, err := os.ReadFile(op.logPath)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// tail returns the last lines of the log that hold one of the words; without words, the last of all.
func (op *operator) tail(words []string) string {
	const lines = 40
	var kept []string
	for line := range strings.Lines(op.log()) {
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
func (op *operator) checkLog(namespaces []string) error {
	var found []string
	for line := range strings.Lines(op.log()) {
		names := func(word string) bool { return strings.Contains(line, word) }
		isError := strings.Contains(line, `"level":"error"`) || strings.Contains(line, "panic")
		if isError && !slices.ContainsFunc(tolerated, names) && (len(namespaces) == 0 || slices.ContainsFunc(namespaces, names)) {
			found = append(found, line)
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("the operator logged %d errors:\n%s", len(found), strings.Join(found[:min(len(found), 10)], ""))
	}
	return nil
}

// sharedOperator returns the operator for all namespaces and starts it unless it runs.
func (s *suite) sharedOperator(t *testing.T) *operator {
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
	if !s.shared.runs() {
		t.Fatalf("the shared operator has ended: %v\n%s", s.shared.err, s.shared.tail(nil))
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
	err := errors.Join(s.shared.terminate(), s.shared.checkLog(nil))
	s.shared = nil
	return err
}
