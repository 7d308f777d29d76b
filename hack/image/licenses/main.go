// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Command licenses collects the licences and notices of all Go code that is linked into a program. It reads what
// go list -deps -json=Dir,Module,Standard prints of the program's package:
//
//	go list -deps -json=Dir,Module,Standard . | go run ./hack/image/licenses DIR
//
// DIR then holds our LICENSE and third_party/MODULE/... of each module, go for Go's own library. A module without a
// licence is an error.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := run(os.Stdin, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(packages io.Reader, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: go list -deps -json=Dir,Module,Standard PACKAGE | licenses DIR")
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	modules, err := linked(packages, strings.TrimSpace(string(out)))
	if err != nil {
		return err
	}
	return collect(modules, args[0])
}

// pkg is a package as go list prints it.
type pkg struct {
	Dir      string
	Standard bool
	Module   *module
}

// module is a module and those of its folders of which a package is linked.
type module struct {
	Path, Dir string
	Main      bool
	folders   map[string]bool
}

// linked reads the packages and returns their modules by path; the Go library is one, too.
func linked(packages io.Reader, goroot string) (map[string]*module, error) {
	modules := map[string]*module{}
	for decoder := json.NewDecoder(packages); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return modules, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list printed: %w", err)
		}
		if p.Standard {
			p.Dir, p.Module = goroot, &module{Path: "go", Dir: goroot}
		}
		if p.Module == nil || p.Module.Dir == "" {
			return nil, fmt.Errorf("go list knows no folder of the module of %s", p.Dir)
		}
		m, ok := modules[p.Module.Path]
		if !ok {
			m = p.Module
			m.folders = map[string]bool{}
			modules[m.Path] = m
		}
		// The folders above are in force as well.
		for dir := p.Dir; ; dir = filepath.Dir(dir) {
			m.folders[dir] = true
			if dir == m.Dir {
				break
			}
			if len(dir) < len(m.Dir) {
				return nil, fmt.Errorf("%s is not in the folder of its module, %s", p.Dir, m.Dir)
			}
		}
	}
}

var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)([.-][^/]*)?$`)

// collect copies the licences of the modules into a new folder.
func collect(modules map[string]*module, target string) error {
	if len(modules) == 0 {
		return errors.New("go list printed no package")
	}
	for _, m := range modules {
		root := filepath.Join(target, "third_party", filepath.FromSlash(m.Path))
		if m.Main {
			root = target
		}
		found := 0
		for dir := range m.folders {
			entries, err := os.ReadDir(dir)
			if err != nil {
				return err
			}
			below, err := filepath.Rel(m.Dir, dir)
			if err != nil {
				return err
			}
			for _, entry := range entries {
				if !entry.Type().IsRegular() || !licence.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
					continue
				}
				if err := copyFile(filepath.Join(dir, entry.Name()), filepath.Join(root, below, entry.Name())); err != nil {
					return err
				}
				found++
			}
		}
		if found == 0 {
			return fmt.Errorf("module %s, in %s, has no licence", m.Path, m.Dir)
		}
	}
	return nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
