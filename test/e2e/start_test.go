// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platformapp/test/operator"
)

// startTimeout is how long an operator that cannot work may take to say so.
const startTimeout = 15 * time.Second

// It says so in the last line of its standard error output, which names the problem.
func TestOperatorThatCannotStartSaysWhyInOneLine(t *testing.T) {
	s := newScene(t)
	t.Parallel()
	folder := t.TempDir()
	namespace := s.namespace("start")
	good, err := s.kubeconfigFor(t.Context(), s.account("operator", namespace))
	if err != nil {
		t.Fatal(err)
	}
	works := []string{"KUBECONFIG=" + good, "WATCH_NAMESPACE=" + namespace}
	missing := filepath.Join(folder, "missing")
	kubeconfig := func(name, server, token string) string {
		path := filepath.Join(folder, name)
		if err := operator.Kubeconfig(path, s.connection(server, token)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	silent := listen(t)
	closed := listen(t)
	_ = closed.Close()
	taken := listen(t)
	const free = "127.0.0.1:0"

	for _, test := range []struct {
		name string
		env  []string
		args []string
		// want is what the line says.
		want []string
	}{
		{"no kubeconfig", nil, nil, []string{"KUBECONFIG"}},
		{"KUBECONFIG names a missing file", []string{"KUBECONFIG=" + missing}, nil, []string{"KUBECONFIG", missing}},
		{"--kubeconfig names a missing file", nil, []string{"--kubeconfig=" + missing}, []string{"kubeconfig", missing}},
		{"the API server is not there", []string{"KUBECONFIG=" + kubeconfig("closed", "https://"+closed.Addr().String(), "t")}, nil, []string{closed.Addr().String(), "connection refused"}},
		{"the API server does not answer", []string{"KUBECONFIG=" + kubeconfig("silent", "https://"+silent.Addr().String(), "t")}, nil, []string{silent.Addr().String(), "imeout"}},
		{"the API server knows nobody of that token", []string{"KUBECONFIG=" + kubeconfig("stranger", s.cluster.Config.Host, "wrong")}, nil, []string{s.cluster.Config.Host, "provide credentials"}},
		{"an unknown flag", nil, []string{"--no-such-flag"}, []string{"no-such-flag"}},
		{"a flag without its value", nil, []string{"--max-concurrent-reconciles=many"}, []string{"max-concurrent-reconciles", "many"}},
		{"a flag out of range", nil, []string{"--max-concurrent-reconciles=0"}, []string{"max-concurrent-reconciles", "at least 1"}},
		{"an argument that is no flag", nil, []string{"start"}, []string{`"start"`}},
		{"WATCH_NAMESPACE names no namespace", []string{"WATCH_NAMESPACE=team-a,Team_B"}, nil, []string{"WATCH_NAMESPACE", `"Team_B"`}},
		{"the port of the probes is taken", works, []string{"--metrics-bind-address=" + free, "--health-probe-bind-address=" + taken.Addr().String()}, []string{taken.Addr().String(), "address already in use"}},
		{"the port of the metrics is taken", works, []string{"--metrics-bind-address=" + taken.Addr().String(), "--health-probe-bind-address=" + free}, []string{taken.Addr().String(), "address already in use"}},
		{"no namespace for the leader's lease", works, []string{"--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect"}, []string{"leader election namespace"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
			defer cancel()
			cmd := exec.CommandContext(ctx, s.binary, test.args...)
			cmd.Env = append([]string{"HOME=" + folder}, test.env...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("it ends with %v, want exit status 1 within %s", err, startTimeout)
			}
			if stdout.Len() > 0 {
				t.Errorf("it prints %q", stdout.String())
			}
			said := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			last := said[len(said)-1]
			for _, line := range said[:len(said)-1] {
				// What it has begun before it fails, and how it ends that, it may log.
				if !strings.HasPrefix(line, `{"level":"info"`) {
					t.Errorf("it says more than one line:\n%s", stderr.String())
					break
				}
			}
			if !strings.HasPrefix(last, "platformapp: ") {
				t.Errorf("the last line does not begin with the program's name: %s", last)
			}
			for _, words := range test.want {
				if !strings.Contains(last, words) {
					t.Errorf("the last line does not say %q: %s", words, last)
				}
			}
		})
	}
}

// listen returns a listener on a free port of the host, to which nobody answers.
func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}
