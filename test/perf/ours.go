// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"platformapp/test/operator"
)

// startOperator starts the operator as it is shipped and waits until it is ready. Its further environment is given.
func startOperator(ctx context.Context, p *plane, env ...string) (*operator.Process, error) {
	return operator.Start(ctx, operator.Options{
		Binary: p.binary, Kubeconfig: p.kubeconfig, Env: append([]string{"ENABLE_WEBHOOKS=false"}, env...),
		Args: []string{"--metrics-secure=false"}, Log: filepath.Join(p.dir, "operator.log"),
	})
}

// runOperator runs the operator while work is done.
func runOperator(ctx context.Context, p *plane, work func(*operator.Process) error, env ...string) error {
	process, err := startOperator(ctx, p, env...)
	if err != nil {
		return err
	}
	err = work(process)
	return errors.Join(err, process.Terminate())
}

// runOursOn makes n applications and returns how long it took until the last of them was ready.
func runOursOn(ctx context.Context, p *plane, g *stage, n int) (time.Duration, error) {
	var took time.Duration
	err := runOperator(ctx, p, func(*operator.Process) error {
		start := time.Now()
		if err := g.createAll(ctx, n); err != nil {
			return err
		}
		err := g.awaitReady(n)
		took = time.Since(start)
		return err
	})
	return took, err
}

// createAll creates n applications.
func (g *stage) createAll(ctx context.Context, n int) error {
	return inParallel(ctx, parallel, n, func(ctx context.Context, i int) error { return g.client.Create(ctx, g.newApp(i)) })
}
