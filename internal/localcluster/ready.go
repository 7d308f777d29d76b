// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// pollInterval is how often a starting cluster is looked at.
const pollInterval = 100 * time.Millisecond

// maxRestarts is how often components that ended are started again. On a slow machine kube-controller-manager
// gives up when the API server is not ready within ten seconds.
const maxRestarts = 5

// waitForAPIServer waits until the API server is ready.
func (c *Cluster) waitForAPIServer(ctx context.Context) error {
	return c.waitFor(ctx, "the API server", c.apiServerReady)
}

// waitForNodes waits until n nodes take pods and pods can be created in the default namespace.
func (c *Cluster) waitForNodes(ctx context.Context, n int) error {
	return c.waitFor(ctx, fmt.Sprintf("%d nodes", n), func(ctx context.Context) error { return c.nodesReady(ctx, n) })
}

// waitFor polls until ready returns nil, and keeps the components running meanwhile.
func (c *Cluster) waitFor(ctx context.Context, what string, ready func(context.Context) error) error {
	restarts := 0
	var last error
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		crashed, err := c.crashed()
		if err != nil {
			return false, err
		}
		if len(crashed) > 0 {
			err := c.crashError(crashed[0])
			if errors.Is(err, errPortInUse) || restarts == maxRestarts {
				return false, err
			}
			restarts++
			return false, c.kwokctl(ctx, "start", "cluster")
		}
		last = ready(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, errors.Join(err, last))
	}
	return nil
}

func (c *Cluster) apiServerReady(ctx context.Context) error {
	return c.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

func (c *Cluster) nodesReady(ctx context.Context, n int) error {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if ready := schedulable(nodes.Items); ready < n {
		return fmt.Errorf("%d of %d nodes are ready", ready, n)
	}
	// Admission refuses pods until kube-controller-manager has made the namespace's service account.
	_, err = c.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err
}

// healthTimeout bounds healthy: a control plane that hangs does not serve.
const healthTimeout = 5 * time.Second

// healthy says what is wrong with a cluster that somebody started before.
func (c *Cluster) healthy(ctx context.Context, nodes int) error {
	alive, err := c.alive()
	if err != nil {
		return err
	}
	for _, name := range components {
		if !alive[name] {
			return fmt.Errorf("%s does not run", name)
		}
	}
	if err := c.connect(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	if err := c.apiServerReady(ctx); err != nil {
		return err
	}
	return c.nodesReady(ctx, nodes)
}
