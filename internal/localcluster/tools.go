// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
)

// ToolsDirEnv names the environment variable that moves the tools cache.
// Without it the cache is the folder platformapp/tools in [os.UserCacheDir].
const ToolsDirEnv = "PLATFORMAPP_TOOLS_DIR"

// modulePath is the module of this checkout; its go.mod marks the root.
const modulePath = "platformapp"

// Tools are the programs of a local cluster.
type Tools struct {
	// Dir holds them side by side under their plain names. It also serves
	// as envtest's BinaryAssetsDirectory and as an entry of PATH.
	Dir string
	// KubernetesVersion is the version of the control plane and of kubectl, such as v1.37.2.
	KubernetesVersion string
}

// Path returns the path of a program, such as [Kubectl].
func (t Tools) Path(program string) string {
	return filepath.Join(t.Dir, program)
}

// EnsureTools returns the programs that the checkout around the working directory pins, and builds those that
// the cache lacks. Nothing is written outside the cache. It writes a line to log for each program that it builds
// and nothing when there is nothing to do; a build from an empty Go cache takes minutes. Programs of other pins
// that nobody has asked for in 30 days are removed from the cache.
//
// It is safe against other processes doing the same, from other checkouts too, and against being killed.
// It fails outside a checkout, without the go command, when a build fails (the error holds the compiler's last
// lines), and when ctx ends.
func EnsureTools(ctx context.Context, log io.Writer) (Tools, error) {
	root, err := CheckoutRoot()
	if err != nil {
		return Tools{}, err
	}
	cache, err := toolsCache()
	if err != nil {
		return Tools{}, err
	}
	var tools Tools
	var folders []string
	for _, module := range toolModules {
		pin, err := readPin(root, module)
		if err != nil {
			return Tools{}, err
		}
		goVersion, err := goVersion(ctx, pin.dir)
		if err != nil {
			return Tools{}, err
		}
		folder := filepath.Join(cache, pin.folder(goVersion, runtime.GOOS, runtime.GOARCH))
		if err := ensureBuilt(ctx, log, pin, folder); err != nil {
			return Tools{}, err
		}
		folders = append(folders, folder)
		if module.name == "kubernetes" {
			tools.KubernetesVersion = pin.version
		}
	}
	if tools.Dir, err = linkTools(cache, folders); err != nil {
		return Tools{}, err
	}
	return tools, pruneTools(cache, append(folders, tools.Dir), time.Now())
}

// CheckoutRoot returns the root of the checkout that the working directory is in, and fails elsewhere.
func CheckoutRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && modfile.ModulePath(goMod) == modulePath {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("the working directory is not in a checkout of %s", modulePath)
		}
		dir = parent
	}
}

// toolsCache returns the root of the tools cache.
func toolsCache() (string, error) {
	if dir := os.Getenv(ToolsDirEnv); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder for the tools, set %s: %w", ToolsDirEnv, err)
	}
	return filepath.Join(dir, "platformapp", "tools"), nil
}

// goVersion returns the version of the Go toolchain that builds the module in dir.
func goVersion(ctx context.Context, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	cmd.Dir = dir
	cmd.Env = goEnv()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask the go command for its version: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// goEnv is the environment of the go command. The tools run on the host and come from the tool modules
// alone, whatever workspace, target or flags the user works with.
func goEnv() []string {
	return append(os.Environ(),
		"GOWORK=off", "GOFLAGS=-mod=readonly", "GO111MODULE=on",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "CGO_ENABLED=0")
}

// linkTools makes one folder with a link to each program in folders, and returns it. The modules stay apart
// so that a new version of one does not build the others again.
func linkTools(cache string, folders []string) (string, error) {
	dir := filepath.Join(cache, "bin-"+fingerprint(folders...))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for i, module := range toolModules {
		for _, program := range module.programs {
			target := filepath.Join("..", filepath.Base(folders[i]), program.name)
			err := os.Symlink(target, filepath.Join(dir, program.name))
			// The folder's name stands for what it links to, so an existing link is right.
			if err != nil && !errors.Is(err, os.ErrExist) {
				return "", err
			}
		}
	}
	return dir, nil
}
