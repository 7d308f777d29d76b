// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Command demo shows the operator at work on a local cluster, without a container engine:
//
//	go run ./hack/demo up      starts it, or brings a running one up to date
//	go run ./hack/demo down    ends it and removes all that it left
//	go run ./hack/demo tools   builds the programs of the local cluster and prints their folder
//
// Everything of a demo is in .local/demo and in bin/kubectl of the checkout, both ignored by git,
// and in the tools cache, see [localcluster.EnsureTools].
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"platformapp/internal/localcluster"
)

const usage = "usage: demo up | down | tools"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case err == nil:
	case interrupted:
		fmt.Fprintln(os.Stderr, "\ninterrupted: `make demo` goes on from here, `make demo-down` removes it")
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New(usage)
	}
	switch args[0] {
	case "up":
		return withDemo(ctx, (*demo).up)
	case "down":
		return withDemo(ctx, (*demo).down)
	case "tools":
		tools, err := localcluster.EnsureTools(ctx, os.Stderr)
		if err == nil {
			fmt.Println(tools.Dir)
		}
		return err
	default:
		return errors.New(usage)
	}
}

// withDemo runs f on the demo of this checkout; one process at a time.
func withDemo(ctx context.Context, f func(*demo, context.Context) error) error {
	root, err := localcluster.CheckoutRoot()
	if err != nil {
		return err
	}
	d := &demo{root: root}
	lock, err := localcluster.LockFile(ctx, os.Stderr, d.path(".local", "demo-command.lock"), "another run of the demo")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return f(d, ctx)
}
