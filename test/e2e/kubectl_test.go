// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"platformapp/internal/localcluster"
)

// runKubectl runs kubectl as cluster admin and returns what it prints.
func (s *suite) runKubectl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.tools.Path(localcluster.Kubectl), args...)
	// Nothing of the user's own settings.
	cmd.Env = []string{"KUBECONFIG=" + s.cluster.Kubeconfig(), "KUBECACHEDIR=" + filepath.Join(s.scratch, "kubectl-cache"), "KUBERC=off"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s%s", strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// kubectl runs kubectl and ends the test when it fails.
func (s *scene) kubectl(args ...string) string {
	s.Helper()
	out, err := s.runKubectl(s.Context(), args...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}
