// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"platformapp/test/fault/proxy"
	"platformapp/test/operator"
)

// AtRest starts one operator for all namespaces that plans left and returns the requests to write that it makes within the
// given time after it is ready: there is nothing to be done.
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
	pause(ctx, period)
	turns, err := process.Sum(ctx, "controller_runtime_reconcile_total", nil)
	if err == nil && turns < float64(c.number.Load())/2 {
		err = fmt.Errorf("it made %.0f turns of the loop in %d namespaces: this shows nothing", turns, c.number.Load())
	}
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
