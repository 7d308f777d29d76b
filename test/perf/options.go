// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
)

// options are how much is measured.
type options struct {
	// n is how many applications are made in a round.
	n, rounds int
	// scale is how many applications there are at the most, for memory, restarts and growth.
	scale int
	// foreign is how many objects of others there are of each kind.
	foreign int
	// changes is how many changes of a specification are timed.
	changes int
	// rest is how long the operator is watched while nothing happens, churn how long specifications change all the time.
	rest, churn time.Duration
	// out is the folder that the figures and plots are written to; empty writes none.
	out string
	log io.Writer
}

func parseOptions(args []string, log io.Writer) (options, error) {
	o := options{log: log}
	flags := flag.NewFlagSet("perf", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.IntVar(&o.n, "n", 1000, "How many applications of a kind are made in a round.")
	flags.IntVar(&o.rounds, "rounds", 5, "How often the bare loop, the naive reconciler and the operator take turns.")
	flags.IntVar(&o.scale, "scale", 3000, "How many EGApps there are at the most, for what grows with their number: up to 10000.")
	flags.IntVar(&o.foreign, "foreign", 20000, "How many Pods, Secrets, ConfigMaps and Deployments of others there are, for the memory.")
	flags.IntVar(&o.changes, "changes", 200, "How many changes of a specification are timed.")
	flags.DurationVar(&o.rest, "rest", 20*time.Second, "How long the operator is watched while nothing happens.")
	flags.DurationVar(&o.churn, "churn", 20*time.Second, "How long specifications change all the time.")
	flags.StringVar(&o.out, "out", "", "The folder that figures.json and the plots are written to.")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.n < 1 || o.rounds < 1 || o.scale < 10 || o.foreign < 1 || o.changes < 1 {
		return o, errors.New("give numbers of at least 1, and of at least 10 for -scale, and nothing but flags")
	}
	return o, nil
}

// progress tells a person what is going on.
func (o options) progress(format string, args ...any) {
	_, _ = fmt.Fprintf(o.log, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
