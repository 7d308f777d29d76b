// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// maxProgram is how many bytes the program of the image may have.
const maxProgram = 60 << 20

// S17, S18. Who builds the sources elsewhere, in another folder, as somebody else and at another time, gets the program that
// is released: static, with nothing of where it was built in it, and an SBOM that names all that it is made of.
// Both builds here use one build cache, so that what they show is that folders, rights and settings have no part in it; that a
// machine of its own gives the same shows each release.
func TestBuildIsReproducibleStaticAndAccountedFor(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the operator")
	}
	here, there := t.TempDir(), filepath.Join(t.TempDir(), "another", "folder")
	copySources(t, here, 0o600)
	copySources(t, there, 0o644)
	first := stage(t, here, "TZ=UTC")
	second := stage(t, there, "TZ=Asia/Tokyo", "LC_ALL=C", "USER=somebody", "GOGC=50")
	content, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := sha256.Sum256(content), sha256.Sum256(again); a != b {
		t.Errorf("one folder gives %x, another one %x", a, b)
	}
	for _, private := range []string{here, there, "/go/src/runtime/", "/pkg/mod/k8s.io"} {
		if bytes.Contains(content, []byte(private)) {
			t.Errorf("the program holds %s, a folder of the machine that built it", private)
		}
	}
	if len(content) > maxProgram {
		t.Errorf("the program has %d MiB", len(content)>>20)
	}
	isStatic(t, first)
	isAccountedFor(t, first)
}

// copySources copies what the Dockerfile copies to the builder, with other rights.
func copySources(t *testing.T, to string, mode os.FileMode) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum", "LICENSE", "hack/image/stage.sh"} {
		files = append(files, filepath.Join(root, name))
	}
	for _, dir := range []string{"hack/image/licenses", "api", "controllers", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, content, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// stage builds the program as the Dockerfile does and returns its path.
func stage(t *testing.T, sources string, env ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	command := exec.CommandContext(t.Context(), "bash", filepath.Join(sources, "hack", "image", "stage.sh"), ".", "manager", out)
	command.Env = append(os.Environ(), append(env, "VERSION=0.0.0-test", "GOOS=", "GOARCH=")...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if _, err := os.Stat(filepath.Join(out, "licenses", "LICENSE")); err != nil {
		t.Errorf("the licences are not beside the program: %v", err)
	}
	return filepath.Join(out, "manager")
}

// isStatic fails when the program needs a loader or a library, which the image lacks, or holds tables for debuggers.
func isStatic(t *testing.T, program string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("the program needs the libraries %v (%v)", libraries, err)
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("the program needs a loader")
		}
	}
	for _, section := range []string{".debug_info", ".zdebug_info", ".symtab"} {
		if file.Section(section) != nil {
			t.Errorf("the program has the section %s", section)
		}
	}
}

// isAccountedFor fails unless the SBOM names the module of each package that is linked into the program, at its version and
// with a licence.
func isAccountedFor(t *testing.T, program string) {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	if settings["CGO_ENABLED"] != "0" || settings["-trimpath"] != "true" || settings["vcs.revision"] != "" {
		t.Errorf("the program was built with %v", settings)
	}
	var bom struct {
		Components []struct {
			Name, Version string
			Licenses      []any
			Evidence      struct{ Licenses []any }
		}
	}
	if err := json.Unmarshal(sbom(t), &bom); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, component := range bom.Components {
		named = append(named, component.Name+"@"+component.Version)
		if len(component.Licenses)+len(component.Evidence.Licenses) == 0 && component.Name != "std" {
			t.Errorf("the SBOM names no licence of %s", component.Name)
		}
	}
	if len(info.Deps) < 30 {
		t.Errorf("%d modules are linked: are they read?", len(info.Deps))
	}
	for _, module := range info.Deps {
		if !slices.Contains(named, module.Path+"@"+module.Version) {
			t.Errorf("the SBOM does not name %s %s", module.Path, module.Version)
		}
	}
	if !slices.ContainsFunc(named, func(name string) bool { return strings.HasPrefix(name, "std@") }) {
		t.Error("the SBOM does not name the standard library")
	}
}

// sbom returns the SBOM of the checkout, as make sbom writes it.
func sbom(t *testing.T) []byte {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "cyclonedx-gomod")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", filepath.Join(root, "tools", "sbom"), "-o", tool,
		"github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod")
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "GOOS=", "GOARCH=")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	command := exec.CommandContext(t.Context(), tool, "app", "-json", "-licenses", "-std", "-noserial", "-notimestamp", "-main", ".", ".")
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	var failure strings.Builder
	command.Stderr = &failure
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, failure.String())
	}
	return output
}
