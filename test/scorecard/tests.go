// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
)

// test is one test of the image. config/scorecard names it; a name that was once released stays.
type test struct {
	name string
	// shows is what is true of the operator when the test passes.
	shows string
	run   func(context.Context, *trial) error
}

var tests = []test{
	{"samples-become-ready", "every example of the bundle becomes Ready", samplesBecomeReady},
	{"drift-is-repaired", "what somebody changes or deletes is as it was at once", driftIsRepaired},
	{"status-names-the-cause", "an image that cannot be pulled is named, and Ready comes by itself when it is corrected", statusNamesTheCause},
	{"deletion-removes-children", "a deleted application takes all with it that was made for it", deletionRemovesChildren},
	// That applications outlive the operator cannot be tried from here without removing it; this is what makes them.
	{"children-depend-on-their-application-alone", "nothing but the application itself owns its children, and no finalizer waits for the operator", childrenDependOnTheirApplicationAlone},
}

func testOf(name string) (test, bool) {
	for _, t := range tests {
		if t.name == name {
			return t, true
		}
	}
	return test{}, false
}

func names() []string {
	var all []string
	for _, t := range tests {
		all = append(all, t.name)
	}
	return all
}

// list is a line for each test.
func list() string {
	var out strings.Builder
	for _, t := range tests {
		fmt.Fprintf(&out, "%-42s  %s\n", t.name, t.shows)
	}
	return out.String()
}
