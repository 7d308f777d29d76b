// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"platformapp/internal/localcluster"
)

func main() {
	localcluster.ServeReaper()
	// Nothing of the libraries' own logging is of interest here.
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	passed, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(2)
	case !passed:
		os.Exit(1)
	}
}

// run measures, prints the report and tells whether every floor is met by a run that counts.
func run(ctx context.Context, args []string, out, progress io.Writer) (bool, error) {
	o, err := parseOptions(args, progress)
	if err != nil {
		return false, err
	}
	r, err := measure(ctx, o)
	if err != nil {
		return false, err
	}
	if o.out != "" {
		if err := r.write(o.out); err != nil {
			return false, err
		}
	}
	return r.print(out), nil
}

// measure measures everything, on one control plane.
func measure(ctx context.Context, o options) (_ *report, err error) {
	p, err := startPlane(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop(ctx)) }()
	r := &report{Machine: thisMachine()}
	for _, s := range subjects {
		counted, err := countRequests(ctx, p, s)
		if err != nil {
			return nil, fmt.Errorf("count the requests for %s: %w", s.kind, err)
		}
		compared, err := compareRates(ctx, p, s, o)
		if err != nil {
			return nil, fmt.Errorf("compare the rates for %s: %w", s.kind, err)
		}
		idle, busy, err := measureLatencies(ctx, p, s, median(compared.Bare), o)
		if err != nil {
			return nil, fmt.Errorf("time changes of %s: %w", s.kind, err)
		}
		r.add(s, counted, compared, idle, busy)
	}
	egapp := subjects[0]
	if r.Sizes, err = measureSizes(ctx, p, egapp, o); err != nil {
		return nil, fmt.Errorf("many EGApps: %w", err)
	}
	if r.Foreign, err = measureForeign(ctx, p, egapp, o); err != nil {
		return nil, fmt.Errorf("objects of others: %w", err)
	}
	r.conclude()
	return r, nil
}
