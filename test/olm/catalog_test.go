// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"platformapp/internal/localcluster"
)

const (
	packageName = "platformapp"
	channel     = "stable"
)

// serveCatalog serves a file-based catalog of bundles, the oldest first, by opm on this machine and returns its address.
// The bundles' objects are in the catalog, so that OLM pulls no image.
func (s *suite) serveCatalog(ctx context.Context, name string, bundles ...*bundle) (string, error) {
	dir := filepath.Join(s.scratch, name)
	opm := filepath.Join(s.root, "bin", "opm")
	args := []string{"run", "./hack/catalog", "join", "-opm", opm, "-out", filepath.Join(dir, packageName, "catalog.yaml")}
	for _, b := range bundles {
		args = append(args, b.dir)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = s.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	ports, err := localcluster.FreePorts(2)
	if err != nil {
		return "", err
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	err = s.cluster.Launch(localcluster.Program{
		Name: name, Path: opm,
		Args: []string{
			"serve", dir, fmt.Sprintf("--port=%d", ports[0]),
			fmt.Sprintf("--pprof-addr=127.0.0.1:%d", ports[1]), "--termination-log=" + dir + "-end",
		},
		Env: []string{"HOME=" + s.scratch},
	})
	if err != nil {
		return "", err
	}
	return address, s.isServed(ctx, name, address)
}

// isServed waits until something listens at the address.
func (s *suite) isServed(ctx context.Context, program, address string) error {
	ctx, cancel := context.WithTimeout(ctx, shortWait)
	defer cancel()
	for {
		var dialer net.Dialer
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return connection.Close()
		}
		if pid, _ := s.cluster.Running(program); pid == 0 || ctx.Err() != nil {
			log, _ := os.ReadFile(s.cluster.ProgramLog(program))
			return fmt.Errorf("%s does not serve: %w\n%s", program, err, log)
		}
		time.Sleep(pollInterval)
	}
}
