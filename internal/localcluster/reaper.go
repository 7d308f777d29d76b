// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// reaperEnv tells a process that it is a reaper, and of which folder.
const reaperEnv = "PLATFORMAPP_LOCALCLUSTER_REAP"

// reaperServed says that this program can be its own reaper.
var reaperServed bool

// reaper is a process that removes a cluster when the process that started it ends, however it ends.
// It is this program itself, started again: nothing else needs to be installed or found.
type reaper struct {
	// lifeline is the only writing end of the reaper's standard input. The system closes it with this process.
	lifeline io.Closer
	// ended is closed when the process has ended; err is then how.
	ended chan struct{}
	err   error
}

// ServeReaper has to be the first call in main or TestMain of a program that starts a cluster that is not detached.
// In such a program it returns at once. In a copy of the program that was started as a reaper it waits for
// the end of the program, removes its cluster, and does not return.
func ServeReaper() {
	reaperServed = true
	dir := os.Getenv(reaperEnv)
	if dir == "" {
		return
	}
	// What asks the parent to end often asks all its children. The reaper is to be the last.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	_, _ = io.Copy(io.Discard, os.Stdin)
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	err := wipe(ctx, dir)
	cancel()
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// startReaper starts the reaper of the cluster in dir. It shares the lock of dir, so that no other cluster
// starts there before this one is gone.
func startReaper(dir string, lock *FileLock) (*reaper, error) {
	if !reaperServed {
		return nil, errors.New("local cluster: call localcluster.ServeReaper first in main or TestMain, or use Detached")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), reaperEnv+"="+dir)
	cmd.ExtraFiles = []*os.File{lock.file}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	r := &reaper{lifeline: lifeline, ended: make(chan struct{})}
	// Waiting also keeps lifeline reachable: the garbage collector would close it, and end the cluster
	// of somebody who kept no more than its kubeconfig.
	go func() {
		r.err = cmd.Wait()
		close(r.ended)
	}()
	return r, nil
}

// release lets the reaper end, which finds nothing left to do, and waits for it. Of no reaper it does nothing.
func (r *reaper) release() error {
	if r == nil {
		return nil
	}
	// It is closed already when the reaper was ended by somebody else.
	_ = r.lifeline.Close()
	<-r.ended
	if r.err != nil {
		return fmt.Errorf("the reaper of the local cluster: %w", r.err)
	}
	return nil
}
