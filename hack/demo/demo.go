// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"platformapp/internal/localcluster"
)

// demo is the demo of one checkout.
type demo struct {
	root    string
	tools   localcluster.Tools
	cluster *localcluster.Cluster
}

// path returns the path of a file in the checkout.
func (d *demo) path(elem ...string) string {
	return filepath.Join(append([]string{d.root}, elem...)...)
}

// dir is the cluster's folder.
func (d *demo) dir() string { return d.path(".local", "demo") }

func (d *demo) kubectlLink() string { return d.path("bin", localcluster.Kubectl) }

// step is a part of up. It returns what to say when it is done.
type step struct {
	name string
	run  func(context.Context) (string, error)
	// tells is true for a step that writes lines of its own meanwhile.
	tells bool
	// note tells what to expect of a step that may take minutes.
	note string
	// managed is true for a step whose failure the manager's log explains.
	managed bool
}

// up brings the demo up, whatever is left of an earlier one, and shows it.
func (d *demo) up(ctx context.Context) error {
	steps := []step{
		{name: "tools", run: d.ensureTools, tells: true},
		{name: "cluster", run: d.ensureCluster},
		{name: "CRDs", run: d.installCRDs},
		{name: "build", run: d.buildManager, note: "(minutes, if it is the first) "},
		{name: "manager", run: d.ensureManager, managed: true},
		{name: "samples", run: d.applySamples, managed: true},
		{name: "ready", run: d.waitForSamples, managed: true},
	}
	for _, step := range steps {
		if err := step.do(ctx); err != nil {
			return d.failure(step, err)
		}
	}
	return d.show(ctx)
}

// do runs the step on a line of its own, which names it from the start on.
func (s step) do(ctx context.Context) error {
	label := fmt.Sprintf("%-8s ", s.name)
	if !s.tells {
		fmt.Print(label + s.note)
	}
	done, err := s.run(ctx)
	if err != nil {
		fmt.Println()
		return err
	}
	if s.tells {
		fmt.Print(label)
	}
	fmt.Println(done)
	return nil
}

// down ends the demo, whatever state it is in.
func (d *demo) down(ctx context.Context) error {
	if err := localcluster.Remove(ctx, d.dir()); err != nil {
		return err
	}
	fmt.Println("the demo is down")
	return nil
}

// ensureTools builds what is missing and puts kubectl where a person finds it.
func (d *demo) ensureTools(ctx context.Context) (string, error) {
	var err error
	d.tools, err = localcluster.EnsureTools(ctx, os.Stdout)
	if err != nil {
		return "", err
	}
	err = replaceLink(d.tools.Path(localcluster.Kubectl), d.kubectlLink())
	return "Kubernetes " + d.tools.KubernetesVersion + " in " + d.tools.Dir, err
}

// ensureCluster keeps a healthy cluster and starts a new one otherwise.
func (d *demo) ensureCluster(ctx context.Context) (string, error) {
	opts := localcluster.Options{
		Dir: d.dir(), Tools: d.tools, Name: "platformapp-demo", Detached: true, Log: os.Stdout,
	}
	var err error
	d.cluster, err = localcluster.Open(ctx, opts)
	if err == nil {
		return "runs at " + d.cluster.Config.Host, nil
	}
	if !errors.Is(err, localcluster.ErrNotRunning) {
		return "", err
	}
	if _, statErr := os.Stat(opts.Dir); statErr == nil {
		fmt.Printf("(the one that was there is replaced: %v) ", err)
	}
	start := time.Now()
	d.cluster, err = localcluster.Start(ctx, opts)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("started at %s in %s", d.cluster.Config.Host, seconds(start)), nil
}

// installCRDs waits until the API server serves the kinds.
func (d *demo) installCRDs(ctx context.Context) (string, error) {
	applied, err := d.apply(ctx, "config", "crd")
	if err != nil {
		return "", err
	}
	args := append([]string{"wait", "--for=condition=Established", "--timeout=30s"}, applied...)
	_, err = d.kubectl(ctx, args...)
	return kindless(applied), err
}

func (d *demo) applySamples(ctx context.Context) (string, error) {
	applied, err := d.apply(ctx, "config", "samples")
	return kindless(applied), err
}

// apply applies a kustomization of the checkout and returns the names of its objects. It takes back
// what a person has changed since: that is how the demo is brought up to date.
func (d *demo) apply(ctx context.Context, kustomization ...string) ([]string, error) {
	out, err := d.kubectl(ctx, "apply", "--server-side", "--force-conflicts", "--output=name",
		"--kustomize", d.path(kustomization...))
	return strings.Fields(out), err
}

// kubectl runs kubectl on the cluster and returns what it prints; an error holds what it complains about.
func (d *demo) kubectl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, d.tools.Path(localcluster.Kubectl), args...)
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+d.cluster.Kubeconfig(),
		"KUBECACHEDIR="+filepath.Join(d.dir(), "kubectl-cache"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s", args[0], errors.Join(err, ctx.Err()), stderr.String())
	}
	return stdout.String(), nil
}

// failure says which step failed, with the end of the manager's log where that explains it.
func (d *demo) failure(failed step, err error) error {
	err = fmt.Errorf("FAILED at %s: %w", failed.name, err)
	if !failed.managed {
		return err
	}
	path := d.cluster.ProgramLog(managerName)
	log, readErr := os.ReadFile(path)
	if readErr != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	last := lines[max(0, len(lines)-30):]
	return fmt.Errorf("%w\n\nThe manager's log, %s, ends with:\n  %s", err, d.relative(path), strings.Join(last, "\n  "))
}

// replaceLink makes link a symbolic link to target, whatever it was.
func replaceLink(target, link string) error {
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return err
	}
	temp := link + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, temp); err != nil {
		return err
	}
	return os.Rename(temp, link)
}

// kindless joins names such as kind.group/name without their kinds.
func kindless(names []string) string {
	var short []string
	for _, name := range names {
		short = append(short, name[strings.LastIndex(name, "/")+1:])
	}
	return strings.Join(short, ", ")
}

// seconds returns the time since start as text.
func seconds(start time.Time) string {
	return time.Since(start).Round(100 * time.Millisecond).String()
}
