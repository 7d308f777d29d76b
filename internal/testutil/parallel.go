// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"flag"
	"strconv"

	"k8s.io/client-go/rest"
)

// RunInParallel lets so many tests of a package run at once, unless the command line says how many. It is for the
// TestMain of tests that wait for a control plane nearly all of the time, so that it need not be the number of cores.
func RunInParallel(tests int) error {
	flag.Parse()
	isSet := false
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "test.parallel" })
	if isSet {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(tests))
}

// Apart returns the connection to an API server for tests that run at once: each request has a TCP connection of its own.
// Over HTTP/2 all would share one, and what a test does to it, such as ending many requests half way, would now and then
// fail a request of another.
func Apart(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"}
	return config
}
