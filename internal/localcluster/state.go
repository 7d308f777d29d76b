// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// stateFile marks a folder as that of a cluster: it is the first file there, and no other folder is ever removed.
const stateFile = "cluster.json"

// state tells a later process what runs in a folder.
type state struct {
	Name  string `json:"name"`
	Tools string `json:"tools"`
	Nodes int    `json:"nodes"`
	Audit bool   `json:"audit"`
}

func stateOf(opts Options) state {
	return state{Name: opts.Name, Tools: opts.Tools.Dir, Nodes: opts.Nodes, Audit: opts.Audit}
}

func writeState(dir string, s state) error {
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, stateFile), content, 0o600)
}

func readState(dir string) (state, error) {
	var s state
	content, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(content, &s)
}

// wipe ends the processes of dir and removes it. The caller holds the lock of dir.
func wipe(ctx context.Context, dir string) error {
	if err := checkOwned(dir); err != nil {
		return err
	}
	if err := endProcesses(ctx, dir); err != nil {
		return err
	}
	return removeMarkedLast(dir)
}

// removeMarkedLast removes dir. The mark goes last, so that the rest of a removal
// that was cut short is still known to be a cluster's.
func removeMarkedLast(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != stateFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// checkOwned refuses a folder that holds something and is not marked as a cluster's.
func checkOwned(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || (err == nil && len(entries) == 0) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, stateFile)); err != nil {
		return fmt.Errorf("%s is in use and not for a local cluster: it has no %s", dir, stateFile)
	}
	return nil
}

// lockTimeout is how long a process waits for another one to leave a folder.
const lockTimeout = 30 * time.Second

// lockDir takes the right to change what is in dir. The lock lies beside dir, which comes and goes.
func lockDir(ctx context.Context, log io.Writer, dir string) (*FileLock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	return LockFile(ctx, log, dir+".lock", "another process that uses the cluster in "+dir)
}
