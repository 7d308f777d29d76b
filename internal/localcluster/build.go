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
	"path/filepath"
	"strings"
	"time"
)

// ensureBuilt builds the programs of p that folder lacks.
func ensureBuilt(ctx context.Context, log io.Writer, p pin, folder string) error {
	if len(missing(p, folder)) == 0 {
		return nil
	}
	lock, err := LockFile(ctx, log, folder+".lock", "another build of "+p.name)
	if err != nil {
		return err
	}
	defer lock.Unlock()

	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make the tools cache: %w", err)
	}
	if err := removeUnfinished(folder); err != nil {
		return err
	}
	// Asked again: whoever held the lock may have built them.
	for _, program := range missing(p, folder) {
		step := "building " + program.name + " " + p.version
		if err := report(log, step, func() error { return build(ctx, p, program, folder) }); err != nil {
			return err
		}
	}
	return nil
}

// missing returns the programs of p that are not in folder. A program is there only when it is whole.
func missing(p pin, folder string) []program {
	var absent []program
	for _, program := range p.programs {
		if _, err := os.Stat(filepath.Join(folder, program.name)); err != nil {
			absent = append(absent, program)
		}
	}
	return absent
}

const unfinishedPrefix = ".build-"

// removeUnfinished removes what a killed build left. Only the holder of the lock may call it.
func removeUnfinished(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, unfinishedPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// build builds one program aside and moves it into folder when it is whole.
func build(ctx context.Context, p pin, program program, folder string) error {
	temp, err := os.MkdirTemp(folder, unfinishedPrefix)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()

	output := filepath.Join(temp, program.name)
	cmd := exec.CommandContext(ctx, "go", append(p.buildArgs(), "-o", output, program.pkg)...)
	cmd.Dir = p.dir
	cmd.Env = goEnv()
	// The go command is asked to stop before it is killed, so that the compilers stop with it.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", program.name, errors.Join(err, ctx.Err()), lastLines(string(out), 20))
	}
	return os.Rename(output, filepath.Join(folder, program.name))
}

// report runs f and writes a line to log: the step, then how long it took. On a terminal the time counts up.
func report(log io.Writer, step string, f func() error) error {
	start := time.Now()
	elapsed := func() time.Duration { return time.Since(start).Round(time.Second) }
	logf(log, "%s ... ", step)

	done := make(chan error, 1)
	go func() { done <- f() }()

	tick := make(<-chan time.Time)
	if isTerminal(log) {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-tick:
			logf(log, "\r%s ... %s", step, elapsed())
		case err := <-done:
			if isTerminal(log) {
				logf(log, "\r%s ... ", step)
			}
			if err != nil {
				logf(log, "failed after %s\n", elapsed())
				return err
			}
			logf(log, "%s\n", elapsed())
			return nil
		}
	}
}

// logf writes to log; that nobody reads it is no error.
func logf(log io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(log, format, args...) }

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// lastLines returns the last n lines of text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
