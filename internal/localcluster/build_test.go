// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// helloPin is a tool module without requirements, so that building it takes no time and no network.
func helloPin(t *testing.T, source string) pin {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":        "module example.com/hello\n\ngo 1.26.0\n",
		"hello/main.go": source,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	module := toolModule{
		name:     "hello",
		programs: []program{{"hello", "example.com/hello/hello"}},
		ldflags:  func(version string) []string { return []string{"-X", "main.version=" + version} },
	}
	return pin{toolModule: module, dir: dir, version: "v1.2.3"}
}

const helloSource = `package main

var version string

func main() { print(version) }
`

// lockedBuffer is a log that two builds write to.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func TestEnsureBuiltOnceForAll(t *testing.T) {
	// What a user may have set must not reach the build.
	t.Setenv("GOFLAGS", "-mod=vendor -race")
	t.Setenv("GOOS", "plan9")
	t.Setenv("GOWORK", filepath.Join(t.TempDir(), "go.work"))

	pin := helloPin(t, helloSource)
	folder := filepath.Join(t.TempDir(), "hello-v1.2.3")
	leftover := filepath.Join(folder, unfinishedPrefix+"killed")
	if err := os.MkdirAll(leftover, 0o755); err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	var builds sync.WaitGroup
	for range 2 {
		builds.Go(func() {
			if err := ensureBuilt(t.Context(), &log, pin, folder); err != nil {
				t.Error(err)
			}
		})
	}
	builds.Wait()

	if got := strings.Count(log.String(), "building hello v1.2.3 ... "); got != 1 {
		t.Errorf("built %d times: %s", got, log.String())
	}
	out, err := exec.Command(filepath.Join(folder, "hello")).CombinedOutput()
	if err != nil || string(out) != "v1.2.3" {
		t.Errorf("hello says %q, %v", out, err)
	}
	if _, err := os.Stat(leftover); !os.IsNotExist(err) {
		t.Errorf("what a killed build left is still there: %v", err)
	}
	log.Reset()
	if err := ensureBuilt(t.Context(), &log, pin, folder); err != nil || log.Len() != 0 {
		t.Errorf("with nothing to do: %v, log %q", err, log.String())
	}
}

func TestFailedBuild(t *testing.T) {
	pin := helloPin(t, "package main\n\nfunc main() { undefinedFunction() }\n")
	folder := filepath.Join(t.TempDir(), "hello-v1.2.3")
	var log lockedBuffer
	err := ensureBuilt(t.Context(), &log, pin, folder)
	if err == nil || !strings.Contains(err.Error(), "undefined: undefinedFunction") {
		t.Errorf("the error does not say what is wrong: %v", err)
	}
	if !strings.Contains(log.String(), "building hello v1.2.3 ... failed after ") {
		t.Errorf("log: %q", log.String())
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("left in the cache: %v, %v", entries, err)
	}
}

func TestLastLines(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"a\nb\nc\n", 2, "b\nc"},
		{"a\nb", 5, "a\nb"},
		{"", 3, ""},
	} {
		if got := lastLines(test.text, test.n); got != test.want {
			t.Errorf("lastLines(%q, %d) = %q, want %q", test.text, test.n, got, test.want)
		}
	}
}
