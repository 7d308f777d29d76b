// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"platformapp/internal/localcluster"
)

// BuildOptions say what is built. Output is required.
type BuildOptions struct {
	// Output is the path of the executable. It should lie below the folder of a local cluster, beside
	// [localcluster.Cluster.Kubeconfig], or below [localcluster.Assets.Dir], so that its processes end with the test.
	Output string
	// Root is the folder of the sources; the default is the checkout that the working directory is in.
	Root string
	// Version is what the operator says that it is; the default is that of a build by hand.
	Version string
	// Race builds with the race detector: the operator then logs "DATA RACE" and ends with an error where there is one.
	Race bool
	// Overlay is the path of a JSON file that replaces sources by others, as go build -overlay reads it. The default
	// replaces none.
	Overlay string
}

// Build builds the operator for the host, whatever target the user builds for; otherwise as go test builds its packages,
// which it need not compile again. It fails with what the compiler says, and when ctx ends.
func Build(ctx context.Context, o BuildOptions) error {
	if o.Output == "" {
		return errors.New("build the operator: no output is given")
	}
	if o.Root == "" {
		root, err := localcluster.CheckoutRoot()
		if err != nil {
			return err
		}
		o.Root = root
	}
	output, err := filepath.Abs(o.Output)
	if err != nil {
		return err
	}
	args := []string{"build", "-o", output}
	if o.Version != "" {
		args = append(args, "-ldflags=-X main.version="+o.Version)
	}
	if o.Race {
		args = append(args, "-race")
	}
	if o.Overlay != "" {
		args = append(args, "-overlay="+o.Overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = o.Root
	cmd.Env = append(os.Environ(), "GOOS=", "GOARCH=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the operator: %w\n%s", err, out)
	}
	return nil
}
