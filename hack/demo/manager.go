// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"platformapp/internal/localcluster"
)

const (
	managerName = "manager"
	// managerTimeout bounds the manager's way to readiness and to its end.
	managerTimeout = 30 * time.Second
	// pollInterval is how often the manager is looked at.
	pollInterval = 200 * time.Millisecond
	// managerAttempts is how often the manager is started when another process takes its port.
	managerAttempts = 3
)

// executable is what make build makes too.
func (d *demo) executable() string { return d.path("bin", managerName) }

// buildManager builds the manager from the code as it is.
func (d *demo) buildManager(ctx context.Context) (string, error) {
	start := time.Now()
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", d.executable(), ".")
	cmd.Dir = d.root
	// The manager runs on the host, whatever target the user builds for.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=", "GOARCH=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", errors.Join(err, ctx.Err()), out)
	}
	return d.relative(d.executable()) + " in " + seconds(start), nil
}

// ensureManager keeps the manager that runs if it is the one just built and healthy, and replaces it otherwise.
func (d *demo) ensureManager(ctx context.Context) (string, error) {
	pid, err := d.cluster.Running(managerName)
	if err != nil {
		return "", err
	}
	same, err := d.cluster.SameProgram(managerName, d.executable())
	if err != nil {
		return "", err
	}
	if pid != 0 && same && d.managerReady(ctx) == nil {
		return fmt.Sprintf("runs as process %d", pid), nil
	}
	if err := d.restartManager(ctx); err != nil {
		return "", err
	}
	pid, err = d.cluster.Running(managerName)
	return fmt.Sprintf("started as process %d, log in %s", pid, d.relative(d.cluster.ProgramLog(managerName))), err
}

// restartManager replaces the manager and waits until the new one is ready.
func (d *demo) restartManager(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		if err := d.terminateManager(ctx); err != nil {
			return err
		}
		if err := d.launchManager(); err != nil {
			return err
		}
		err := d.waitForManager(ctx)
		if err == nil || attempt == managerAttempts || !d.managerLogged("address already in use") {
			return err
		}
	}
}

func (d *demo) terminateManager(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, managerTimeout)
	defer cancel()
	return d.cluster.Terminate(ctx, managerName)
}

// launchManager starts the manager on free ports; probesFile keeps the address of its probes for a later run.
func (d *demo) launchManager() error {
	ports, err := localcluster.FreePorts(1)
	if err != nil {
		return err
	}
	probes := fmt.Sprintf("127.0.0.1:%d", ports[0])
	if err := os.WriteFile(d.probesFile(), []byte(probes), 0o600); err != nil {
		return err
	}
	return d.cluster.Launch(localcluster.Program{
		Name: managerName,
		Path: d.executable(),
		Args: []string{
			"--metrics-bind-address=127.0.0.1:0",
			"--health-probe-bind-address=" + probes,
			"--leader-elect=false",
		},
		Env: append(os.Environ(), "KUBECONFIG="+d.cluster.Kubeconfig(), "WATCH_NAMESPACE="),
	})
}

func (d *demo) probesFile() string { return filepath.Join(d.dir(), "manager-probes") }

// waitForManager waits until the manager is ready, and fails when it ends.
func (d *demo) waitForManager(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, managerTimeout)
	defer cancel()
	ctx, stop := d.whileManagerRuns(ctx)
	defer stop()
	for {
		err := d.managerReady(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the manager does not become ready: %w", errors.Join(context.Cause(ctx), err))
		case <-time.After(pollInterval):
		}
	}
}

// whileManagerRuns returns a context that ends with the manager.
func (d *demo) whileManagerRuns(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for ctx.Err() == nil {
			if pid, err := d.cluster.Running(managerName); err == nil && pid == 0 {
				cancel(errors.New("the manager has ended"))
			}
			time.Sleep(pollInterval)
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// managerReady asks the manager's readiness probe.
func (d *demo) managerReady(ctx context.Context) error {
	address, err := os.ReadFile(d.probesFile())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+string(address)+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("readyz says %s", response.Status)
	}
	return nil
}

func (d *demo) managerLogged(text string) bool {
	log, err := os.ReadFile(d.cluster.ProgramLog(managerName))
	return err == nil && strings.Contains(string(log), text)
}

// relative returns path as seen from the checkout's root.
func (d *demo) relative(path string) string {
	if relative, err := filepath.Rel(d.root, path); err == nil {
		return relative
	}
	return path
}
