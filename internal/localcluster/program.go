// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Program is a program that runs beside the cluster, such as an operator's manager, and ends with it.
type Program struct {
	// Name is what the cluster calls it.
	Name string
	// Path is the executable. The cluster runs a copy of it, so that a new build does not touch what runs.
	Path string
	// Args are its arguments, Env its whole environment.
	Args, Env []string
}

// Launch starts a program in a session of its own, so that it outlives this process when the cluster does.
// Its output replaces [Cluster.ProgramLog]. It fails when the program cannot be started; whether it
// keeps running is what [Cluster.Running] tells.
func (c *Cluster) Launch(p Program) error {
	if err := copyExecutable(p.Path, c.programPath(p.Name)); err != nil {
		return fmt.Errorf("launch %s: %w", p.Name, err)
	}
	log, err := os.Create(c.ProgramLog(p.Name))
	if err != nil {
		return fmt.Errorf("launch %s: %w", p.Name, err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(c.programPath(p.Name), p.Args...)
	cmd.Env = p.Env
	cmd.Stdout = log
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("launch %s: %w", p.Name, err)
	}
	// How it ended is told by its log.
	go func() { _ = cmd.Wait() }()
	return nil
}

// Running returns the pid of the launched program of that name, or 0 when it does not run.
func (c *Cluster) Running(name string) (int, error) {
	processes, err := processesOf(c.programPath(name))
	if err != nil || len(processes) == 0 {
		return 0, err
	}
	return processes[0].pid, nil
}

// SameProgram reports whether the executable at path is, byte for byte, the one that was launched as name.
func (c *Cluster) SameProgram(name, path string) (bool, error) {
	launched, err := os.ReadFile(c.programPath(name))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	other, err := os.ReadFile(path)
	return bytes.Equal(launched, other), err
}

// Terminate asks the launched program of that name to end, kills it when ctx ends first, and returns when it is gone.
func (c *Cluster) Terminate(ctx context.Context, name string) error {
	processes, err := processesOf(c.programPath(name))
	if err != nil {
		return err
	}
	if err := signalAll(processes, syscall.SIGTERM); err != nil {
		return err
	}
	for ctx.Err() == nil {
		pid, err := c.Running(name)
		if err != nil || pid == 0 {
			return err
		}
		time.Sleep(killInterval)
	}
	return signalAll(processes, syscall.SIGKILL)
}

// ProgramLog returns the path of the output of the launched program of that name.
func (c *Cluster) ProgramLog(name string) string { return filepath.Join(c.dir, name+".log") }

// programPath is inside the cluster's folder: that makes the program one of its processes.
func (c *Cluster) programPath(name string) string { return filepath.Join(c.dir, "bin", name) }

// copyExecutable replaces the file at target by a copy of source. A file that is being executed cannot be
// written to, but its name can go to another.
func copyExecutable(source, target string) error {
	content, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	temp := target + ".new"
	if err := os.WriteFile(temp, content, 0o755); err != nil {
		return err
	}
	return os.Rename(temp, target)
}
