// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"flag"
	"strconv"
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
