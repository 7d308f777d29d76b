// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package localcluster

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// listProcesses asks ps for the processes of all users and sessions, with their whole command lines.
func listProcesses() ([]process, error) {
	out, err := exec.Command("ps", "-axww", "-o", "pid=,command=").Output()
	if err != nil {
		return nil, err
	}
	var processes []process
	for line := range strings.Lines(string(out)) {
		number, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		processes = append(processes, process{pid: pid, command: strings.TrimSpace(command)})
	}
	return processes, nil
}

// hasEnded tells whether a process has ended.
func hasEnded(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
