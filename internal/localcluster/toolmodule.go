// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// The programs of a local cluster, as they are named in [Tools.Dir].
const (
	Etcd                  = "etcd"
	KubeAPIServer         = "kube-apiserver"
	KubeControllerManager = "kube-controller-manager"
	KubeScheduler         = "kube-scheduler"
	Kubectl               = "kubectl"
	Kwok                  = "kwok"
	Kwokctl               = "kwokctl"
)

// toolModule is a Go module under tools/ that pins some of the programs.
type toolModule struct {
	// name is its folder below tools/.
	name string
	// source is the module that the programs come from; its version is theirs.
	source string
	// programs maps a program's name to its package, in the order of building.
	programs []program
	// ldflags returns the linker flags that tell the programs their version.
	ldflags func(version string) []string
}

type program struct{ name, pkg string }

// toolModules is in the order of building: what is quick comes first.
var toolModules = []toolModule{
	{
		name:     "etcd",
		source:   "go.etcd.io/etcd/server/v3",
		programs: []program{{Etcd, "go.etcd.io/etcd/server/v3"}},
	},
	{
		name:   "kwok",
		source: "sigs.k8s.io/kwok",
		programs: []program{
			{Kwok, "sigs.k8s.io/kwok/cmd/kwok"},
			{Kwokctl, "sigs.k8s.io/kwok/cmd/kwokctl"},
		},
		ldflags: kwokVersion,
	},
	{
		name:   "kubernetes",
		source: "k8s.io/kubernetes",
		programs: []program{
			{KubeAPIServer, "k8s.io/kubernetes/cmd/kube-apiserver"},
			{KubeControllerManager, "k8s.io/kubernetes/cmd/kube-controller-manager"},
			{KubeScheduler, "k8s.io/kubernetes/cmd/kube-scheduler"},
			{Kubectl, "k8s.io/kubernetes/cmd/kubectl"},
		},
		ldflags: kubernetesVersion,
	},
}

// kubernetesVersion does what Kubernetes' own build does: without these flags the programs
// call themselves v0.0.0-master, and kwokctl derives their flags from what they say.
func kubernetesVersion(version string) []string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(version), "v"), ".")
	var flags []string
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+version,
			"-X", pkg+".gitMajor="+major,
			"-X", pkg+".gitMinor="+minor,
		)
	}
	return flags
}

func kwokVersion(version string) []string {
	return []string{"-X", "sigs.k8s.io/kwok/pkg/consts.Version=" + strings.TrimPrefix(version, "v")}
}

// pin is a toolModule as its go.mod stands.
type pin struct {
	toolModule
	// dir is the module's folder.
	dir string
	// version is that of the programs, with a leading v.
	version string
	// sums are the contents of go.mod and go.sum: all that decides which source is built.
	sums []byte
}

// readPin reads the go.mod and go.sum of module m in the checkout at root.
func readPin(root string, m toolModule) (pin, error) {
	dir := filepath.Join(root, "tools", m.name)
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return pin{}, fmt.Errorf("read the pinned versions: %w", err)
	}
	goSum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return pin{}, fmt.Errorf("read the pinned versions: %w", err)
	}
	version, err := requiredVersion(goMod, m.source)
	if err != nil {
		return pin{}, fmt.Errorf("%s: %w", filepath.Join(dir, "go.mod"), err)
	}
	return pin{toolModule: m, dir: dir, version: version, sums: append(goMod, goSum...)}, nil
}

// requiredVersion returns the version of module that the go.mod file requires.
func requiredVersion(goMod []byte, module string) (string, error) {
	file, err := modfile.ParseLax("go.mod", goMod, nil)
	if err != nil {
		return "", err
	}
	for _, require := range file.Require {
		if require.Mod.Path == module {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("no requirement of %s", module)
}

// buildArgs returns the arguments of go build, without output and package. They override what GOFLAGS says.
func (p pin) buildArgs() []string {
	ldflags := []string{"-s", "-w"}
	if p.ldflags != nil {
		ldflags = append(ldflags, p.ldflags(p.version)...)
	}
	return []string{"build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=" + strings.Join(ldflags, " ")}
}

// folder names the cache folder of the programs: equal names hold equal programs.
func (p pin) folder(goVersion, goos, goarch string) string {
	return fmt.Sprintf("%s-%s-%s", p.name, p.version,
		fingerprint(string(p.sums), strings.Join(p.buildArgs(), " "), goVersion, goos, goarch))
}

// fingerprint returns a short hash of the parts; it keeps them apart.
func fingerprint(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}
