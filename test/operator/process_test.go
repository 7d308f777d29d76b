// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// roleEnv makes this test program play an operator, so that what is done to one can be tried without a cluster.
const roleEnv = "PLATFORMAPP_OPERATOR_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role))
	}
	os.Exit(m.Run())
}

// play does what an operator of that kind does and returns its exit status.
func play(role string) int {
	flags := flag.NewFlagSet("operator", flag.ExitOnError)
	probes := flags.String("health-probe-bind-address", "", "")
	metrics := flags.String("metrics-bind-address", "", "")
	flags.Int("webhook-port", 0, "")
	_ = flags.Parse(os.Args[1:])
	first := os.Getenv("FIRST")
	switch role {
	case "fails":
		fmt.Fprintln(os.Stderr, "platformapp: there is no cluster")
		return 1
	case "port taken":
		// Only the first of all that are started so finds it taken.
		if file, err := os.OpenFile(first, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = file.Close()
			fmt.Fprintln(os.Stderr, "listen tcp: bind: address already in use")
			return 1
		}
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	fmt.Fprintln(os.Stderr, `{"level":"info","msg":"starting"}`)
	fmt.Fprintln(os.Stderr, `{"level":"error","msg":"something"}`)
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "# TYPE writes_total counter\nwrites_total{kind=\"Service\",result=\"applied\"} 2\nwrites_total{kind=\"Deployment\",result=\"applied\"} 3\n")
	})
	for _, address := range []string{*probes, *metrics} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		go func() { _ = http.Serve(listener, mux) }()
	}
	<-asked
	if role == "ends badly" {
		return 1
	}
	return 0
}

func optionsOf(t *testing.T, role string) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return Options{
		Binary: self, Kubeconfig: "none", Log: filepath.Join(dir, "log"),
		Env: []string{roleEnv + "=" + role, "FIRST=" + filepath.Join(dir, "first")},
	}
}

func start(t *testing.T, role string) *Process {
	t.Helper()
	p, err := Start(t.Context(), optionsOf(t, role))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func TestAnOperatorThatWorks(t *testing.T) {
	p := start(t, "works")
	if !p.Runs() || p.Err() != nil {
		t.Errorf("it runs: %t, %v", p.Runs(), p.Err())
	}
	if got := p.Errors(); len(got) != 1 || !strings.Contains(got[0], "something") {
		t.Errorf("its errors are %q", got)
	}
	for want, labels := range map[float64]map[string]string{5: nil, 2: {"kind": "Service"}, 0: {"kind": "Ingress"}} {
		if got, err := p.Sum(t.Context(), "writes_total", labels); err != nil || got != want {
			t.Errorf("Sum(%v) = %v, %v, want %v", labels, got, err, want)
		}
	}
	if err := p.Terminate(); err != nil {
		t.Error(err)
	}
	if p.Runs() {
		t.Error("it runs after its end")
	}
	if err := p.Terminate(); err == nil {
		t.Error("one that has ended can be asked to end")
	}
}

func TestAnOperatorThatDoesNotStart(t *testing.T) {
	p, err := Start(t.Context(), optionsOf(t, "fails"))
	if p != nil || err == nil || !strings.Contains(err.Error(), "there is no cluster") {
		t.Errorf("Start = %v, %v, want what the operator says", p, err)
	}
}

func TestAPortThatIsTakenIsTriedAgain(t *testing.T) {
	p := start(t, "port taken")
	if strings.Contains(p.Log(), "already in use") {
		t.Errorf("the log is that of an earlier process too:\n%s", p.Log())
	}
}

func TestAnOperatorThatEndsBadly(t *testing.T) {
	p := start(t, "ends badly")
	if err := p.Terminate(); err == nil || p.Err() == nil {
		t.Errorf("Terminate = %v, Err = %v, want an error", err, p.Err())
	}
}

func TestAKilledOperator(t *testing.T) {
	p := start(t, "works")
	p.Kill()
	p.Kill()
	select {
	case <-p.Ended():
	default:
		t.Error("it has not ended")
	}
	if p.Err() == nil {
		t.Error("it has ended well")
	}
}

func TestAPausedOperatorDoesNotAnswerUntilItIsResumed(t *testing.T) {
	p := start(t, "works")
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := p.Metrics(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused operator answers %v", err)
	}
	if !p.Runs() {
		t.Error("a paused operator has ended")
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := p.WaitReady(t.Context()); err != nil {
		t.Error(err)
	}
}
