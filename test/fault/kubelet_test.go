// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"platformapp/test/operator"
)

// roleEnv makes this test program play an operator.
const roleEnv = "PLATFORMAPP_FAULT_ROLE"

// The operators that are played: when it is told to end, one does, one does not, and one ends with an error.
const (
	roleEnds  = "ends"
	roleStays = "stays"
	roleFails = "fails"
)

// playOperator does what an operator of that role does and returns its exit status.
func playOperator(role string) int {
	flags := flag.NewFlagSet("operator", flag.ExitOnError)
	probes := flags.String("health-probe-bind-address", "", "")
	flags.String("metrics-bind-address", "", "")
	flags.Int("webhook-port", 0, "")
	_ = flags.Parse(os.Args[1:])
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	listener, err := net.Listen("tcp", *probes)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() { _ = http.Serve(listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }()
	<-asked
	fmt.Fprintln(os.Stderr, asking)
	switch role {
	case roleStays:
		select {}
	case roleFails:
		return 1
	}
	return 0
}

// asking is what an operator says that is told to end.
const asking = "told to end"

func kubeletOf(t *testing.T, role string) *Kubelet {
	t.Helper()
	k, err := StartKubelet(t.Context(), operator.Options{
		Binary: os.Args[0], Kubeconfig: "none", Log: filepath.Join(t.TempDir(), "log"), Env: []string{roleEnv + "=" + role},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		k.Kill()
		_ = k.Stop()
	})
	return k
}

// TestReplace tells that an operator is replaced when it ends well, or was killed on the way, and that a bad end is told.
func TestReplace(t *testing.T) {
	for name, test := range map[string]struct {
		role    string
		isKnown bool // the bad end is told
		kills   bool
	}{
		"it ends":                 {roleEnds, false, false},
		"it ends badly":           {roleFails, true, false},
		"it is killed on its way": {roleStays, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := kubeletOf(t, test.role)
			first, err := k.running()
			if err != nil {
				t.Fatal(err)
			}
			replaced := make(chan error, 1)
			go func() { replaced <- k.Replace(t.Context(), os.Args[0]) }()
			if test.kills {
				awaitLog(t, first)
				k.Kill()
			}
			if err := <-replaced; (err != nil) != test.isKnown {
				t.Errorf("replaced: %v", err)
			}
			if err := k.WaitReady(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * restartPause)
			if second, _ := k.running(); second == first || !second.Runs() || k.launched != 2 || k.Ends() != 0 {
				t.Errorf("%d processes were launched, %d ended by themselves", k.launched, k.Ends())
			}
		})
	}
}

// TestReplaceSparesWhatIsNotReady tells that the process that is told to end is the one that was seen to be ready.
func TestReplaceSparesWhatIsNotReady(t *testing.T) {
	k := kubeletOf(t, roleEnds)
	for range 5 {
		k.Kill() // What comes next is not ready yet.
		if err := k.Replace(t.Context(), os.Args[0]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKill tells that a killed operator is started again, and that an end that nobody asked for counts.
func TestKill(t *testing.T) {
	k := kubeletOf(t, roleEnds)
	k.Kill()
	if err := k.WaitReady(t.Context()); err != nil || k.Ends() != 0 {
		t.Errorf("%v, %d ends", err, k.Ends())
	}
	process, err := k.running()
	if err != nil {
		t.Fatal(err)
	}
	process.Kill()
	time.Sleep(2 * restartPause)
	if err := k.WaitReady(t.Context()); err != nil || k.Ends() != 1 {
		t.Errorf("%v, %d ends", err, k.Ends())
	}
	if err := k.Stop(); err != nil {
		t.Error(err)
	}
}

// awaitLog waits until an operator was told to end.
func awaitLog(t *testing.T, process *operator.Process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for process.Log() == "" {
		if !pause(ctx, checkPause) {
			t.Fatal("the operator was not told to end")
		}
	}
}
