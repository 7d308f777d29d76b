// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package testutil finds what several packages test against: the real definitions of the
// APIs that a cluster may lack.
package testutil

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// The modules that hold the definitions, and the file of each kind in them.
const (
	projectModule = "platformapp"
	gatewayModule = "sigs.k8s.io/gateway-api"
	routeModule   = "github.com/openshift/api"

	httpRouteFile = "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"
	gatewayFile   = "config/crd/standard/gateway.networking.k8s.io_gateways.yaml"
	routeFile     = "route/v1/zz_generated.crd-manifests/routes.crd.yaml"
	// The module of the ServiceMonitor's types comes without its definition.
	serviceMonitorFile = "internal/testutil/testdata/monitoring.coreos.com_servicemonitors.yaml"
)

// OptionalCRDs returns, by kind, the files of the CustomResourceDefinitions of the
// optional kinds of children, and of the Gateway, as the modules of their APIs have them.
// It asks the go command and fails when that does.
func OptionalCRDs(ctx context.Context) (map[string]string, error) {
	dirs, err := moduleDirs(ctx, projectModule, gatewayModule, routeModule)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"HTTPRoute":      filepath.Join(dirs[gatewayModule], httpRouteFile),
		"Gateway":        filepath.Join(dirs[gatewayModule], gatewayFile),
		"Route":          filepath.Join(dirs[routeModule], routeFile),
		"ServiceMonitor": filepath.Join(dirs[projectModule], serviceMonitorFile),
	}, nil
}

// moduleDirs returns where the modules are, by path.
func moduleDirs(ctx context.Context, modules ...string) (map[string]string, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"list", "-m", "-f", "{{.Path}} {{.Dir}}"}, modules...)...)
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		module, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		if dir == "" {
			return nil, fmt.Errorf("module %s is not in the module cache: run go mod download", module)
		}
		dirs[module] = dir
	}
	return dirs, nil
}
