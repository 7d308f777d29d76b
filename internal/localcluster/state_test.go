// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startIn starts a copy of sleep through a path inside dir, as the components of a cluster are.
func startIn(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(bin, "sleep")
	if err := os.Symlink(sleep, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(link, "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

func TestRemoveEndsWhatRunsAndNothingElse(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "cluster")
	neighbour := startIn(t, filepath.Join(parent, "cluster-2"))
	if err := writeState(dir, state{Name: "local"}); err != nil {
		t.Fatal(err)
	}
	member := startIn(t, dir)
	ended := make(chan struct{})
	go func() {
		_ = member.Wait()
		close(ended)
	}()
	// A process that only speaks of the folder, such as an editor or kubectl, is a bystander.
	bystander := exec.Command("sh", "-c", "sleep 300; true "+filepath.Join(dir, "kubeconfig"))
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bystander.Process.Kill() })

	if err := Remove(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("the process in the folder still runs")
	}
	for name, cmd := range map[string]*exec.Cmd{"neighbour": neighbour, "bystander": bystander} {
		if !isRunning(t, cmd) {
			t.Errorf("the %s was ended too", name)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if err := Remove(t.Context(), dir); err != nil {
		t.Errorf("again: %v", err)
	}
}

func isRunning(t *testing.T, cmd *exec.Cmd) bool {
	t.Helper()
	processes, err := selectProcesses(func(p process) bool { return p.pid == cmd.Process.Pid })
	if err != nil {
		t.Fatal(err)
	}
	return len(processes) > 0
}

func TestForeignFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), dir); err == nil {
		t.Error("Remove takes a folder that is no cluster's")
	}
	_, err := Start(t.Context(), Options{Dir: dir, Tools: Tools{Dir: "/none"}, Detached: true})
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("Start takes a folder that is no cluster's: %v", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

func TestOpenSaysWhyNot(t *testing.T) {
	opts := Options{Dir: filepath.Join(t.TempDir(), "cluster"), Tools: Tools{Dir: "/tools"}, Detached: true}
	check := func(name, want string) {
		t.Helper()
		_, err := Open(t.Context(), opts)
		if !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Open = %v, want ErrNotRunning with %q", name, err, want)
		}
	}
	check("nothing there", "no such file")

	complete, err := opts.complete()
	if err != nil {
		t.Fatal(err)
	}
	if err := writeState(complete.Dir, stateOf(complete)); err != nil {
		t.Fatal(err)
	}
	check("after a reboot", "etcd does not run")

	opts.Tools.Dir = "/newer-tools"
	check("of older tools", "other options or tools")

	if err := os.WriteFile(filepath.Join(complete.Dir, stateFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("written by half", "unexpected end of JSON")
}

func TestOptionsAreChecked(t *testing.T) {
	for name, opts := range map[string]Options{
		"no folder":      {Tools: Tools{Dir: "/tools"}},
		"no tools":       {Dir: t.TempDir()},
		"negative nodes": {Dir: t.TempDir(), Tools: Tools{Dir: "/tools"}, Nodes: -1},
	} {
		if _, err := opts.complete(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestLockWaitsAndSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var log lockedBuffer
	first, err := LockFile(t.Context(), &log, path, "another test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := LockFile(ctx, &log, path, "another test"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second lock: %v, want it to wait until its context ends", err)
	}
	if got := log.String(); got != "waiting for another test\n" {
		t.Errorf("log: %q", got)
	}
	first.Unlock()
	third, err := LockFile(t.Context(), &log, path, "another test")
	if err != nil {
		t.Fatal(err)
	}
	third.Unlock()
}

func TestKwokctlEnvHoldsNothingOfTheUser(t *testing.T) {
	c := &Cluster{dir: "/cluster", name: "local", tools: Tools{Dir: "/tools"}}
	env := c.kwokctlEnv([]string{"HOME=/home/user", "KWOK_RUNTIME=docker", "KUBECONFIG=/home/user/.kube/config"})
	got := strings.Join(env, "\n")
	for _, unwanted := range []string{"KWOK_RUNTIME", "KUBECONFIG="} {
		if strings.Contains(got, unwanted) {
			t.Errorf("%s is passed on", unwanted)
		}
	}
	for _, want := range []string{"HOME=/home/user", "KWOK_WORKDIR=/cluster/kwok", "PATH=/tools"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
}

func TestCrashErrorKnowsATakenPort(t *testing.T) {
	c := &Cluster{dir: t.TempDir(), name: "local"}
	if err := os.MkdirAll(c.LogDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(c.LogDir(), Etcd+".log")
	for text, taken := range map[string]bool{
		"listen tcp 127.0.0.1:20001: bind: address already in use": true,
		"disk is full": false,
	} {
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := c.crashError(Etcd)
		if errors.Is(err, errPortInUse) != taken || !strings.Contains(err.Error(), text) {
			t.Errorf("log %q gives %v", text, err)
		}
	}
}
