// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockRetry is how often a waiting process looks whether a file lock is free.
const lockRetry = 100 * time.Millisecond

// FileLock is an exclusive lock between processes. The system releases it when the last process that
// has the file open ends, so a killed process leaves none behind. The file stays: to remove it while
// another process opens it would give two processes a lock each.
type FileLock struct{ file *os.File }

// LockFile takes the lock at path. While another process holds it, it waits until ctx ends, and tells log once that
// it waits for holder. It fails when ctx ends and when the file cannot be made or locked.
func LockFile(ctx context.Context, log io.Writer, path, holder string) (*FileLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for waiting := false; ; waiting = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return &FileLock{file: file}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !waiting {
			logf(log, "waiting for %s\n", holder)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("wait for %s (lock %s): %w", holder, path, ctx.Err())
		case <-time.After(lockRetry):
		}
	}
}

// Unlock gives up this process's share: the lock is free when no child that inherited the file has it open either.
func (l *FileLock) Unlock() { _ = l.file.Close() }
