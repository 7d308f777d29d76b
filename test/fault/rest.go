// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"platformapp/test/fault/proxy"
	"platformapp/test/operator"
)

// firstLook bounds the time in which an operator looks at all that the plans left, on a machine that does much else.
const firstLook = 5 * time.Minute

// AtRest starts one operator for all namespaces that plans left and returns the requests to write that it makes until the
// given time after it has looked at everything: there is nothing to be done.
func (c *Campaign) AtRest(ctx context.Context, period time.Duration) ([]string, error) {
	p, err := proxy.Start(c.identity)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	kubeconfig := filepath.Join(c.options.Folder, "all.kubeconfig")
	if err := operator.Kubeconfig(kubeconfig, p.Config()); err != nil {
		return nil, err
	}
	process, err := operator.Start(ctx, operator.Options{
		Binary: c.options.Binaries.Present, Kubeconfig: kubeconfig, Log: filepath.Join(c.options.Folder, "all.log"),
		Env: []string{"ENABLE_WEBHOOKS=false"}, Args: []string{"--metrics-secure=false"},
	})
	if err != nil {
		return nil, err
	}
	err = awaitTurns(ctx, process, c.left.Load())
	pause(ctx, period)
	if errStop := process.Terminate(); err == nil {
		err = errStop
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var writes []string
	for _, q := range p.Writes() {
		if c.restless[q.Namespace] {
			continue
		}
		writes = append(writes, fmt.Sprintf("%s of %s/%s", q.Key(), q.Namespace, q.Name))
	}
	return writes, err
}

// awaitTurns waits until an operator has made so many turns of its loop.
func awaitTurns(ctx context.Context, process *operator.Process, want int64) error {
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	for {
		turns, err := process.Sum(ctx, "controller_runtime_reconcile_total", nil)
		if err == nil && turns >= float64(want) {
			return nil
		}
		if !pause(ctx, checkInterval) {
			return errors.Join(err, fmt.Errorf("the operator made %.0f turns of the loop for %d applications within %s", turns, want, firstLook))
		}
	}
}
