// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// journal is what a test tells of its way: the log of its result. Any number of goroutines may write to it.
type journal struct {
	start time.Time

	mu    sync.Mutex
	lines strings.Builder
}

// printf adds a line, with the time since the start.
func (j *journal) printf(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fmt.Fprintf(&j.lines, "%5.1fs %s\n", time.Since(j.start).Seconds(), fmt.Sprintf(format, args...))
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines.String()
}

// logger writes into the journal what the Kubernetes libraries log.
func (j *journal) logger() logr.Logger {
	return funcr.New(func(prefix, args string) { j.printf("%s %s", prefix, args) }, funcr.Options{})
}

// HandleWarningHeader keeps what the API server warns of.
func (j *journal) HandleWarningHeader(_ int, _, text string) {
	j.printf("the API server warns: %s", text)
}
