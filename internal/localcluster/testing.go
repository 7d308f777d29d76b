// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// StartForTest starts a cluster for a test, or for a benchmark, and stops it when the test ends. opts.Tools and opts.Dir
// may be left out: the tools are then built when they are missing, and the folder is a temporary one of the test.
// It ends the test when the cluster does not start. TestMain has to call [ServeReaper].
func StartForTest(tb testing.TB, opts Options) *Cluster {
	tb.Helper()
	ctx := tb.Context()
	if opts.Tools.Dir == "" {
		tools, err := EnsureTools(ctx, os.Stderr)
		if err != nil {
			tb.Fatal(err)
		}
		opts.Tools = tools
	}
	if opts.Dir == "" {
		opts.Dir = filepath.Join(tb.TempDir(), "cluster")
	}
	cluster, err := Start(ctx, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		// The test's own context has ended by now.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if err := cluster.Stop(ctx); err != nil {
			tb.Errorf("stop the local cluster: %v", err)
		}
	})
	return cluster
}
