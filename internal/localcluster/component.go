// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// KwokController is the component that plays the nodes and the pods. The other components have the names of their programs.
// When it is killed and started it goes on after up to 200 seconds only, when the leases of its nodes have run out.
const KwokController = "kwok-controller"

// KillComponent ends a component of the running cluster at once, as a machine does that loses power, and returns when it
// is gone. Of one that does not run it does nothing. It fails when ctx ends first.
func (c *Cluster) KillComponent(ctx context.Context, name string) error {
	// Without its pid the component counts as one that was never started, not as one that has crashed.
	if err := os.Remove(c.pidPath(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	running, err := c.component(name)
	if err != nil {
		return err
	}
	if err := signalAll(running, syscall.SIGKILL); err != nil {
		return err
	}
	for _, p := range running {
		for !hasEnded(p.pid) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("wait for the end of %s: %w", name, ctx.Err())
			case <-time.After(killInterval):
			}
		}
	}
	return nil
}

// PauseComponent lets a component hang: it keeps its connections and answers nothing. It fails when it does not run.
func (c *Cluster) PauseComponent(name string) error { return c.signalComponent(name, syscall.SIGSTOP) }

// ResumeComponent ends the pause of a component. It fails when it does not run.
func (c *Cluster) ResumeComponent(name string) error { return c.signalComponent(name, syscall.SIGCONT) }

// StartComponent starts a component that was killed, on its ports and its data, and returns at once; it does
// nothing when it runs. What needs it waits for it by itself, see also [Cluster.AwaitAPIServer]. It fails when the
// component is unknown or cannot be started.
func (c *Cluster) StartComponent(name string) error {
	running, err := c.component(name)
	if err != nil || len(running) > 0 {
		return err
	}
	recipe, err := c.recipe(name)
	if err != nil {
		return err
	}
	pid, err := recipe.start(filepath.Join(c.LogDir(), name+".log"))
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	return os.WriteFile(c.pidPath(name), []byte(strconv.Itoa(pid)), 0o600)
}

// AwaitAPIServer returns when the API server is ready to serve. It fails when ctx ends first.
func (c *Cluster) AwaitAPIServer(ctx context.Context) error {
	for {
		err := c.apiServerReady(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			if running, lookErr := c.component(KubeAPIServer); lookErr == nil && len(running) == 0 {
				err = c.crashError(KubeAPIServer)
			}
			return fmt.Errorf("wait for the API server: %w", errors.Join(ctx.Err(), err))
		case <-time.After(pollInterval):
		}
	}
}

// ComponentArgs returns the arguments that a component is started with, so that another one like it can be run beside
// the cluster. It fails when the component is unknown.
func (c *Cluster) ComponentArgs(name string) ([]string, error) {
	recipe, err := c.recipe(name)
	return recipe.Args, err
}

func (c *Cluster) signalComponent(name string, signal syscall.Signal) error {
	running, err := c.component(name)
	if err != nil {
		return err
	}
	if len(running) == 0 {
		return fmt.Errorf("%s does not run", name)
	}
	return signalAll(running, signal)
}

// component returns the processes of a component, which is one when it runs.
func (c *Cluster) component(name string) ([]process, error) {
	if !slices.Contains(components, name) {
		return nil, fmt.Errorf("a local cluster has no %q, only %s", name, strings.Join(components, ", "))
	}
	return processesOf(filepath.Join(c.clusterDir(), "bin", name))
}

func (c *Cluster) pidPath(name string) string {
	return filepath.Join(c.clusterDir(), "pids", name+".pid")
}

// start starts the component and returns its pid. Its output is appended to the log.
func (r componentRecipe) start(logPath string) (int, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(r.Binary, r.Args...)
	cmd.Dir = r.WorkDir
	cmd.Env = os.Environ()
	for _, variable := range r.Envs {
		cmd.Env = append(cmd.Env, variable.Name+"="+variable.Value)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	// How it ended is told by its log.
	go func() { _ = cmd.Wait() }()
	return cmd.Process.Pid, nil
}
