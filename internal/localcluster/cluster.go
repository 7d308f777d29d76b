// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Options say where a cluster lives and what it is like. Dir and Tools are required.
type Options struct {
	// Dir is the folder that holds everything of the cluster, and nothing else: it is removed with the cluster.
	// It is made when it does not exist; one that holds anything but a cluster is refused.
	Dir string
	// Tools are the programs to run, from [EnsureTools].
	Tools Tools
	// Name is part of the kubeconfig's context, kwok-<name>. The default is "local".
	Name string
	// Nodes is the number of nodes, each with 16 CPU, 64 GiB and 110 pods, spread over three zones. The default is 3.
	Nodes int
	// Audit records every request in [Cluster.AuditLog].
	Audit bool
	// Detached lets the cluster outlive this process, until [Cluster.Stop] or [Remove].
	// The default is a cluster that ends with this process; main or TestMain then has to call [ServeReaper].
	Detached bool
	// Log takes a line for what is out of the ordinary, such as a second attempt. The default is none.
	Log io.Writer

	// freePorts is [FreePorts], but for tests.
	freePorts func(n int) ([]int, error)
}

// complete checks the options and fills in the defaults.
func (o Options) complete() (Options, error) {
	if o.Dir == "" || o.Tools.Dir == "" {
		return o, errors.New("local cluster: Dir and Tools are required")
	}
	if o.Nodes < 0 {
		return o, fmt.Errorf("local cluster: %d nodes", o.Nodes)
	}
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.Name == "" {
		o.Name = "local"
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.freePorts == nil {
		o.freePorts = FreePorts
	}
	var err error
	o.Dir, err = canonical(o.Dir)
	return o, err
}

// Cluster is a running cluster.
type Cluster struct {
	// Config connects to the API server as cluster admin, without client-side throttling.
	Config *rest.Config

	dir    string
	name   string
	tools  Tools
	client kubernetes.Interface
	reaper *reaper
	// stopped keeps a second Stop from ending what others start in the folder after the first.
	stopped bool
}

// Kubeconfig returns the path of a kubeconfig file for cluster admin.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// AuditLog returns the path of the API server's audit log: a JSON object of kind Event a line.
// It exists only with [Options.Audit].
func (c *Cluster) AuditLog() string { return filepath.Join(c.LogDir(), "audit.log") }

// LogDir returns the folder of the components' logs.
func (c *Cluster) LogDir() string { return filepath.Join(c.clusterDir(), "logs") }

// workDir is kwokctl's own root, in place of ~/.kwok.
func (c *Cluster) workDir() string { return filepath.Join(c.dir, "kwok") }

// clusterDir is where kwokctl keeps the cluster; it decides the layout below.
func (c *Cluster) clusterDir() string { return filepath.Join(c.workDir(), "clusters", c.name) }

func (c *Cluster) configPath() string { return filepath.Join(c.dir, "kwokctl.yaml") }

func (c *Cluster) kwokctlPath() string { return filepath.Join(c.dir, "bin", Kwokctl) }

const (
	// startTimeout bounds Start, stopTimeout what cleans up after it.
	startTimeout = 5 * time.Minute
	stopTimeout  = 30 * time.Second
	// startAttempts is how often Start tries when another process takes one of its ports.
	startAttempts = 3
)

// Start starts a new cluster and returns when its nodes are Ready and take pods, usually after 5 to 10 seconds and at
// most after 5 minutes. A cluster that is or was in opts.Dir is removed first. Everything that Start began is ended
// when it fails; the error then holds the end of the log of what went wrong.
//
// It fails when opts.Dir holds something else, when another process starts or keeps a cluster there, when ctx ends,
// when a component ends or does not become ready, and, unless opts.Detached, when nobody called [ServeReaper].
func Start(ctx context.Context, opts Options) (_ *Cluster, err error) {
	if opts, err = opts.complete(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	lock, err := lockDir(ctx, opts.Log, opts.Dir)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	if err := wipe(ctx, opts.Dir); err != nil {
		return nil, err
	}
	c := &Cluster{dir: opts.Dir, name: opts.Name, tools: opts.Tools}
	if !opts.Detached {
		if c.reaper, err = startReaper(opts.Dir, lock); err != nil {
			return nil, err
		}
	}
	for attempt := 1; ; attempt++ {
		err = c.create(ctx, opts)
		if err == nil {
			return c, nil
		}
		if !errors.Is(err, errPortInUse) || attempt == startAttempts {
			return nil, errors.Join(err, c.discard())
		}
		logf(opts.Log, "a port was taken meanwhile, starting again: %v\n", err)
		if err := wipe(ctx, opts.Dir); err != nil {
			return nil, errors.Join(err, c.discard())
		}
	}
}

// create starts the cluster in its empty folder.
func (c *Cluster) create(ctx context.Context, opts Options) error {
	if err := writeState(c.dir, stateOf(opts)); err != nil {
		return err
	}
	if err := c.configure(opts); err != nil {
		return err
	}
	if err := c.kwokctl(ctx, "create", "cluster", "--kubeconfig", c.Kubeconfig()); err != nil {
		return err
	}
	if err := c.connect(); err != nil {
		return err
	}
	if err := c.waitForAPIServer(ctx); err != nil {
		return err
	}
	if err := createNodes(ctx, c.client, opts.Nodes, c.tools.KubernetesVersion); err != nil {
		return err
	}
	return c.waitForNodes(ctx, opts.Nodes)
}

// connect reads the kubeconfig.
func (c *Cluster) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	c.Config = config
	c.client, err = kubernetes.NewForConfig(config)
	return err
}

// discard removes the cluster after Start failed, when ctx may have ended.
func (c *Cluster) discard() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return errors.Join(wipe(ctx, c.dir), c.reaper.release())
}

// Stop ends every process of the cluster and removes its folder. A second call does nothing.
// It fails when a process cannot be ended before ctx ends.
func (c *Cluster) Stop(ctx context.Context) error {
	if c.stopped {
		return nil
	}
	var err error
	if c.reaper == nil {
		err = Remove(ctx, c.dir)
	} else {
		// No lock is taken: this process's reaper holds it until it is released.
		err = errors.Join(wipe(ctx, c.dir), c.reaper.release())
	}
	c.stopped = err == nil
	return err
}

// Remove ends every process of the cluster in dir, whoever started it and whatever state it is in, and removes
// dir. Without a cluster it does nothing. It fails when dir holds something else, when another process starts
// or keeps the cluster (wait up to 30 seconds for it), and when ctx ends.
func Remove(ctx context.Context, dir string) error {
	dir, err := canonical(dir)
	if err != nil {
		return err
	}
	lock, err := lockDir(ctx, io.Discard, dir)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return wipe(ctx, dir)
}

// ErrNotRunning says that a folder holds no healthy cluster as it was asked for.
var ErrNotRunning = errors.New("no such cluster is running")

// Open returns the detached cluster in opts.Dir if it is healthy and was started with the same options and tools,
// and an error that wraps [ErrNotRunning] and says what is wrong with it otherwise. It changes nothing.
func Open(ctx context.Context, opts Options) (*Cluster, error) {
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	found, err := readState(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	if found != stateOf(opts) {
		return nil, fmt.Errorf("%w: it was started with other options or tools", ErrNotRunning)
	}
	c := &Cluster{dir: opts.Dir, name: opts.Name, tools: opts.Tools}
	if err := c.healthy(ctx, opts.Nodes); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	return c, nil
}

// canonical returns the one name of dir that all processes use, so that each finds what another started.
// The folder itself need not exist.
func canonical(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	parent, err = filepath.EvalSymlinks(parent)
	return filepath.Join(parent, filepath.Base(dir)), err
}
