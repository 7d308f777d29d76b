// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Assets are the programs of an API server alone, for envtest: whatever is started from their folder ends with this
// process, also when it is killed, which envtest itself does not see to.
type Assets struct {
	// Dir is for envtest's BinaryAssetsDirectory.
	Dir string

	reaper *reaper
}

// NewAssets makes the folder of the programs, and builds those that are missing. main or TestMain has to call
// [ServeReaper] first. It fails as [EnsureTools] does, and when the folder cannot be made.
func NewAssets(ctx context.Context, log io.Writer) (_ *Assets, err error) {
	tools, err := EnsureTools(ctx, log)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "platformapp-assets-")
	if err != nil {
		return nil, err
	}
	if dir, err = canonical(dir); err != nil {
		return nil, err
	}
	if err := writeState(dir, state{Name: "assets", Tools: tools.Dir}); err != nil {
		return nil, err
	}
	for _, program := range []string{Etcd, KubeAPIServer, Kubectl} {
		if err := os.Symlink(tools.Path(program), filepath.Join(dir, program)); err != nil {
			return nil, err
		}
	}
	lock, err := lockDir(ctx, log, dir)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	reaper, err := startReaper(dir, lock)
	if err != nil {
		return nil, err
	}
	return &Assets{Dir: dir, reaper: reaper}, nil
}

// Remove ends what still runs from the folder and removes it.
func (a *Assets) Remove(ctx context.Context) error {
	return errors.Join(wipe(ctx, a.Dir), a.reaper.release(), os.Remove(a.Dir+".lock"))
}
