// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

func TestRequiredVersion(t *testing.T) {
	const goMod = `module platformapp/tools/kubernetes

go 1.26.0

tool k8s.io/kubernetes/cmd/kubectl

require (
	k8s.io/api v0.37.2 // indirect
	k8s.io/kubernetes v1.37.2 // indirect
)

replace k8s.io/api => k8s.io/api v0.37.9
`
	version, err := requiredVersion([]byte(goMod), "k8s.io/kubernetes")
	if err != nil || version != "v1.37.2" {
		t.Errorf("requiredVersion = %q, %v, want v1.37.2", version, err)
	}
	for name, broken := range map[string]string{"no requirement": "module m\n", "no go.mod": "]["} {
		if version, err := requiredVersion([]byte(broken), "k8s.io/kubernetes"); err == nil {
			t.Errorf("%s: requiredVersion = %q without an error", name, version)
		}
	}
}

func TestKubernetesVersion(t *testing.T) {
	got := strings.Join(kubernetesVersion("v1.37.2"), " ")
	for _, want := range []string{
		"-X k8s.io/component-base/version.gitVersion=v1.37.2",
		"-X k8s.io/component-base/version.gitMajor=1",
		"-X k8s.io/component-base/version.gitMinor=37",
		"-X k8s.io/client-go/pkg/version.gitVersion=v1.37.2",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("linker flags %q lack %q", got, want)
		}
	}
}

// TestPinsOfThisCheckout fails when a tool module is moved or no longer requires what it is there for.
func TestPinsOfThisCheckout(t *testing.T) {
	root, err := CheckoutRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range toolModules {
		pin, err := readPin(root, module)
		if err != nil {
			t.Error(err)
			continue
		}
		if !semver.IsValid(pin.version) {
			t.Errorf("%s has version %q", module.name, pin.version)
		}
	}
}

func TestFolderIsKeyedByAllThatDecides(t *testing.T) {
	base := pin{toolModule: toolModules[2], version: "v1.37.2", sums: []byte("sums")}
	otherSums, otherFlags := base, base
	otherSums.sums = []byte("other sums")
	otherFlags.ldflags = nil

	folder := base.folder("go1.26.8", "linux", "amd64")
	if again := base.folder("go1.26.8", "linux", "amd64"); again != folder {
		t.Errorf("equal inputs give %s and %s", folder, again)
	}
	others := []string{
		otherSums.folder("go1.26.8", "linux", "amd64"),
		otherFlags.folder("go1.26.8", "linux", "amd64"),
		base.folder("go1.26.9", "linux", "amd64"),
		base.folder("go1.26.8", "darwin", "amd64"),
		base.folder("go1.26.8", "linux", "arm64"),
	}
	for i, other := range others {
		if other == folder || slices.Contains(others[:i], other) {
			t.Errorf("folder %d is not its own: %s", i, other)
		}
	}
	if !strings.HasPrefix(folder, "kubernetes-v1.37.2-") {
		t.Errorf("folder %s does not tell a person what is in it", folder)
	}
}

func TestFingerprintKeepsPartsApart(t *testing.T) {
	if fingerprint("ab", "c") == fingerprint("a", "bc") {
		t.Error("different parts have one fingerprint")
	}
}

func TestToolsCache(t *testing.T) {
	own := t.TempDir()
	t.Setenv(ToolsDirEnv, own)
	if dir, err := toolsCache(); err != nil || dir != own {
		t.Errorf("toolsCache = %q, %v, want %q", dir, err, own)
	}
	t.Setenv(ToolsDirEnv, "")
	dir, err := toolsCache()
	if err != nil || !strings.HasSuffix(dir, filepath.Join("platformapp", "tools")) {
		t.Errorf("toolsCache = %q, %v", dir, err)
	}
}

func TestCheckoutRootOutside(t *testing.T) {
	t.Chdir(t.TempDir())
	if root, err := CheckoutRoot(); err == nil {
		t.Errorf("CheckoutRoot = %q outside a checkout", root)
	}
}

func TestLinkTools(t *testing.T) {
	cache := t.TempDir()
	var folders []string
	for _, module := range toolModules {
		folder := filepath.Join(cache, module.name+"-v1-key")
		folders = append(folders, folder)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, program := range module.programs {
			if err := os.WriteFile(filepath.Join(folder, program.name), []byte(program.name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir, err := linkTools(cache, folders)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := linkTools(cache, folders); err != nil || again != dir {
		t.Errorf("again: %q, %v, want %q", again, err, dir)
	}
	tools := Tools{Dir: dir}
	for _, name := range []string{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kubectl, Kwok, Kwokctl} {
		if content, err := os.ReadFile(tools.Path(name)); err != nil || string(content) != name {
			t.Errorf("%s leads to %q, %v", name, content, err)
		}
	}
}
