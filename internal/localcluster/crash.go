// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cancelOnCrash cancels when etcd or the API server has ended. It returns when ctx ends.
func (c *Cluster) cancelOnCrash(ctx context.Context, cancel context.CancelCauseFunc) {
	for ctx.Err() == nil {
		if crashed, err := c.crashed(); err == nil {
			for _, name := range crashed {
				if name == Etcd || name == KubeAPIServer {
					cancel(c.crashError(name))
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
		}
	}
}

// crashed returns the components that were started and have ended. What was started is looked up first: a component
// that is started between the two looks would count as ended otherwise.
func (c *Cluster) crashed() ([]string, error) {
	var started []string
	for _, name := range components {
		if _, err := os.Stat(c.pidPath(name)); err == nil {
			started = append(started, name)
		}
	}
	alive, err := c.alive()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(started, func(name string) bool { return alive[name] }), nil
}

// alive returns the components that run.
func (c *Cluster) alive() (map[string]bool, error) {
	bin := filepath.Join(c.clusterDir(), "bin")
	processes, err := processesUnder(bin)
	if err != nil {
		return nil, err
	}
	alive := map[string]bool{}
	for _, p := range processes {
		program, _, _ := strings.Cut(strings.TrimPrefix(p.command, bin+string(filepath.Separator)), " ")
		alive[program] = true
	}
	return alive, nil
}

// errPortInUse says that another process took one of the chosen ports first.
var errPortInUse = errors.New("port in use")

// crashError says that a component has ended, with the end of its log.
func (c *Cluster) crashError(name string) error {
	log, err := os.ReadFile(filepath.Join(c.clusterDir(), "logs", name+".log"))
	if err != nil {
		return fmt.Errorf("%s has ended: %w", name, err)
	}
	err = fmt.Errorf("%s has ended:\n%s", name, lastLines(string(log), 10))
	if strings.Contains(string(log), "address already in use") {
		return fmt.Errorf("%w: %w", errPortInUse, err)
	}
	return err
}
