// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// listProcesses reads /proc: a minimal Linux has no ps. A process that ends meanwhile is left out,
// and so is one that has ended and waits for its parent.
func listProcesses() ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var processes []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		arguments, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil || len(arguments) == 0 {
			continue
		}
		command := string(bytes.ReplaceAll(bytes.TrimRight(arguments, "\x00"), []byte{0}, []byte{' '}))
		processes = append(processes, process{pid: pid, command: command})
	}
	return processes, nil
}

// hasEnded tells whether a process has let go of all that it held, its ports among them. It has no command line any more
// for a while before that, and the first of its threads may have ended before the others.
func hasEnded(pid int) bool {
	if threads, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task")); err == nil && len(threads) > 1 {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return true
	}
	// The state follows the name, which is in parentheses and may hold any.
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return bytes.HasPrefix(state, []byte("Z")) || bytes.HasPrefix(state, []byte("X"))
}
