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
