// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"io"
	"os"
	"strings"
)

// Log returns what the operator has said, or why that cannot be read. What another process appends to the same file
// meanwhile is in it too.
func (p *Process) Log() string {
	file, err := os.Open(p.log)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(p.logStart, io.SeekStart); err != nil {
		return err.Error()
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// Errors returns the lines of the log that tell of an error, a panic or a data race.
func (p *Process) Errors() []string {
	var found []string
	for line := range strings.Lines(p.Log()) {
		if strings.Contains(line, `"level":"error"`) || strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE") {
			found = append(found, line)
		}
	}
	return found
}
