// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// process is a running program.
type process struct {
	pid int
	// command is its command line; it begins with the path that it was started through.
	command string
}

// processesUnder returns the processes that were started through a path inside dir.
func processesUnder(dir string) ([]process, error) {
	return selectProcesses(func(p process) bool {
		return strings.HasPrefix(p.command, dir+string(filepath.Separator))
	})
}

// processesOf returns the processes that were started through path.
func processesOf(path string) ([]process, error) {
	return selectProcesses(func(p process) bool {
		return p.command == path || strings.HasPrefix(p.command, path+" ")
	})
}

func selectProcesses(match func(process) bool) ([]process, error) {
	all, err := listProcesses()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var selected []process
	for _, p := range all {
		if match(p) {
			selected = append(selected, p)
		}
	}
	return selected, nil
}

// killInterval is how often it is looked whether killed processes are gone.
const killInterval = 20 * time.Millisecond

// endProcesses kills the processes that were started through a path inside dir, and returns when none is left.
// They are killed at once: what they hold is thrown away with their folder.
func endProcesses(ctx context.Context, dir string) error {
	for {
		// Asked again until there is none: kwokctl may have started one more before it was killed.
		left, err := processesUnder(dir)
		if err != nil || len(left) == 0 {
			return err
		}
		if err := signalAll(left, syscall.SIGKILL); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("end the processes of %s: %w", dir, ctx.Err())
		case <-time.After(killInterval):
		}
	}
}

// signalAll sends signal to the processes; one that has ended meanwhile is no error.
func signalAll(processes []process, signal syscall.Signal) error {
	for _, p := range processes {
		if err := syscall.Kill(p.pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("send %v to process %d (%s): %w", signal, p.pid, p.command, err)
		}
	}
	return nil
}
