// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestReaperOutlivesAKilledParent(t *testing.T) {
	dir := canonicalDir(t)
	if err := writeState(dir, state{Name: "local"}); err != nil {
		t.Fatal(err)
	}
	member := startIn(t, dir)
	go func() { _ = member.Wait() }()
	victim := startVictim(t, victimReaper, dir)
	if left := left(t, dir); left != 1 {
		t.Fatalf("%d processes in the folder, want the one just started", left)
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitUntilGone(t, dir)
}

func TestClusterEndsWithItsKilledParent(t *testing.T) {
	skipIfShort(t)
	dir := canonicalDir(t)
	victim := startVictim(t, victimCluster, dir)
	if left := left(t, dir); left != len(components) {
		t.Errorf("%d processes run, want %d", left, len(components))
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitUntilGone(t, dir)
}

func TestNobodyServesTheReaper(t *testing.T) {
	reaperServed = false
	defer func() { reaperServed = true }()
	dir := canonicalDir(t)
	if _, err := Start(t.Context(), Options{Dir: dir, Tools: Tools{Dir: "/tools"}}); err == nil {
		t.Error("Start begins a cluster that nothing would end")
	}
}

// TestTwoClusters starts two at once and shows that each is a whole cluster, that a port which another process
// takes first only costs the second an attempt, and that one ends alone.
func TestTwoClusters(t *testing.T) {
	skipIfShort(t)
	tools, err := EnsureTools(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	dirs := []string{canonicalDir(t), canonicalDir(t)}
	var log lockedBuffer
	options := []Options{
		{Dir: dirs[0], Tools: tools, Audit: true},
		{Dir: dirs[1], Tools: tools, Log: &log, freePorts: firstTaken(t)},
	}
	clusters := make([]*Cluster, len(options))
	errs := make([]error, len(options))
	var starts sync.WaitGroup
	for i, opts := range options {
		starts.Go(func() { clusters[i], errs[i] = Start(t.Context(), opts) })
	}
	starts.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, cluster := range clusters {
			if err := cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})

	if !strings.Contains(log.String(), "a port was taken meanwhile") {
		t.Errorf("the second cluster never met the taken port; log: %s", log.String())
	}
	client := clientOf(t, clusters[0])
	deployment := runDeployment(t, client)
	scaleTo(t, client, deployment, 5)
	collectsGarbage(t, client, deployment)
	if requests := auditedRequests(t, clusters[0]); requests == 0 {
		t.Error("the audit log is empty")
	}
	refusesStrangers(t, clusters[0])

	if _, err := Open(t.Context(), options[0]); err != nil {
		t.Errorf("Open of a healthy cluster: %v", err)
	}
	if err := clusters[0].Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := left(t, dirs[0]); left != 0 {
		t.Errorf("%d processes are left", left)
	}
	if _, err := os.Stat(dirs[0]); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if _, err := Open(t.Context(), options[1]); err != nil {
		t.Errorf("the other cluster suffered: %v", err)
	}
}

// firstTaken returns a choice of ports whose first answer has a port of the API server that is in use.
func firstTaken(t *testing.T) func(n int) ([]int, error) {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	taken := listener.Addr().(*net.TCPAddr).Port
	return func(n int) ([]int, error) {
		ports, err := FreePorts(n)
		if taken != 0 && err == nil {
			ports[2], taken = taken, 0
		}
		return ports, err
	}
}
