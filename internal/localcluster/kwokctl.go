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
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"
)

// loopback is the only address that a cluster listens on: etcd has no authentication.
const loopback = "127.0.0.1"

// components are the processes that kwokctl starts, by the names it gives them.
var components = []string{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, KwokController}

// configure writes kwokctl's configuration, on ports that are free now.
func (c *Cluster) configure(opts Options) error {
	ports, err := opts.freePorts(portsOfCluster)
	if err != nil {
		return err
	}
	policyPath := ""
	if opts.Audit {
		policyPath = filepath.Join(c.dir, "audit-policy.yaml")
		if err := os.WriteFile(policyPath, []byte(auditPolicy), 0o600); err != nil {
			return err
		}
	}
	config, err := yaml.Marshal(newKwokctlConfiguration(c.tools, ports, policyPath))
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.configPath(), config, 0o600); err != nil {
		return err
	}
	// Started through the cluster's folder like everything else, kwokctl is found as one of its processes.
	if err := os.MkdirAll(filepath.Dir(c.kwokctlPath()), 0o755); err != nil {
		return err
	}
	return os.Symlink(c.tools.Path(Kwokctl), c.kwokctlPath())
}

// kwokctl runs a kwokctl command. kwokctl waits up to two minutes for an API server, so it is stopped
// as soon as a component that the API server needs has ended.
func (c *Cluster) kwokctl(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go c.cancelOnCrash(ctx, cancel)

	args = append(args, "--name", c.name, "--config", c.configPath())
	cmd := exec.CommandContext(ctx, c.kwokctlPath(), args...)
	cmd.Env = c.kwokctlEnv(os.Environ())
	// Ctrl-C is for the caller, which then ends ctx.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A child of a killed kwokctl may hold its output open.
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("kwokctl %s: %w\n%s", args[0], errors.Join(err, context.Cause(ctx)), lastLines(string(out), 20))
	}
	return nil
}

// kwokctlEnv returns env for kwokctl: its work folder inside the cluster's, none of the user's own settings (they
// would override the configuration file), and our kubectl on PATH, where it looks before it downloads one.
func (c *Cluster) kwokctlEnv(env []string) []string {
	var kept []string
	for _, variable := range env {
		if !strings.HasPrefix(variable, "KWOK_") && !strings.HasPrefix(variable, "KUBECONFIG=") {
			kept = append(kept, variable)
		}
	}
	return append(kept,
		"KWOK_WORKDIR="+c.workDir(),
		"KUBECACHEDIR="+filepath.Join(c.dir, "kubectl-cache"),
		"PATH="+c.tools.Dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}
