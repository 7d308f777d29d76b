// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// awaitStop returns when a child process that was sent SIGSTOP has stopped: the signal is on its way for a moment. It
// fails when the process ends instead.
func awaitStop(pid int) error {
	for {
		// WNOWAIT leaves the child to who waits for its end.
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait until process %d has stopped: %w", pid, err)
		}
		return nil
	}
}
