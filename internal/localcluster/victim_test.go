// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// victimEnv makes this test binary a program that starts a cluster, or only a reaper, in the folder that
// victimDirEnv names, and waits to be killed.
const (
	victimEnv     = "PLATFORMAPP_TEST_VICTIM"
	victimDirEnv  = "PLATFORMAPP_TEST_VICTIM_DIR"
	victimCluster = "cluster"
	victimReaper  = "reaper"
)

func TestMain(m *testing.M) {
	ServeReaper()
	if kind := os.Getenv(victimEnv); kind != "" {
		if err := beVictim(kind, os.Getenv(victimDirEnv)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		// Nothing here keeps the cluster reachable; its reaper must not be collected with it.
		runtime.GC()
		time.Sleep(100 * time.Millisecond)
		fmt.Println("ready")
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

func beVictim(kind, dir string) error {
	ctx := context.Background()
	if kind == victimReaper {
		lock, err := lockDir(ctx, io.Discard, dir)
		if err != nil {
			return err
		}
		_, err = startReaper(dir, lock)
		return err
	}
	tools, err := EnsureTools(ctx, os.Stderr)
	if err != nil {
		return err
	}
	_, err = Start(ctx, Options{Dir: dir, Tools: tools})
	return err
}

// startVictim runs a victim and returns it when it has done its work.
func startVictim(t *testing.T, kind, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+kind, victimDirEnv+"="+dir)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if line != "ready\n" {
		t.Fatalf("the victim says %q, %v", line, err)
	}
	return cmd
}

// waitUntilGone waits until neither processes nor the folder are left.
func waitUntilGone(t *testing.T, dir string) {
	t.Helper()
	eventually(t, "nothing is left", func() bool {
		_, err := os.Stat(dir)
		return left(t, dir) == 0 && os.IsNotExist(err)
	})
}

// left counts the processes of the cluster in dir.
func left(t *testing.T, dir string) int {
	t.Helper()
	processes, err := processesUnder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(processes)
}

// skipIfShort skips a test that starts a whole cluster when only the quick ones are asked for.
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a local cluster")
	}
}

// canonicalDir returns a folder that does not exist yet, by the name that its processes have.
func canonicalDir(t *testing.T) string {
	t.Helper()
	dir, err := canonical(filepath.Join(t.TempDir(), "cluster"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
