// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package operator

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// awaitStop returns when a child process that was sent SIGSTOP has stopped: the signal is on its way for a moment. It
// fails when the process ends instead.
func awaitStop(pid int) error {
	for {
		state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
		if err != nil {
			return fmt.Errorf("wait until process %d has stopped: %w", pid, err)
		}
		if strings.HasPrefix(strings.TrimSpace(string(state)), "T") {
			return nil
		}
		time.Sleep(pollInterval)
	}
}
