// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Command vulncheck looks for known vulnerabilities that this module's code can reach, and fails when a dependency has
// one. It runs bin/govulncheck, which make builds.
//
// The database is a Go module, pinned and checksummed in tools/vuln/go.mod, whose reports govulncheck reads from the
// module cache: it works wherever Go modules can be had, and the result changes only with a commit. In tools/vuln,
// "go get golang.org/x/vulndb@latest" brings newer reports.
//
// Vulnerabilities of the standard library are told but do not fail: which Go builds a checkout is not for the
// repository to say. The Dockerfile builds releases with the newest patch release.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A database that is read wrongly finds nothing, which looks like success: so it is asked for something old and known.
const (
	canary       = "golang.org/x/text@v0.3.5"
	canaryReport = "GO-2021-0113"
)

// message is one value in govulncheck's stream; only one field is set.
type message struct {
	OSV     *report  `json:"osv"`
	Finding *finding `json:"finding"`
}

type report struct {
	ID      string `json:"id"`
	Summary string `json:"summary"`
}

type finding struct {
	OSV          string  `json:"osv"`
	FixedVersion string  `json:"fixed_version"`
	Trace        []frame `json:"trace"`
}

// frame is a step from the vulnerable symbol, which comes first, to our code.
type frame struct {
	Module   string `json:"module"`
	Version  string `json:"version"`
	Package  string `json:"package"`
	Function string `json:"function"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(1)
	}
}

func run() error {
	database, err := database()
	if err != nil {
		return err
	}
	known, _, err := govulncheck(database, "-mode=query", canary)
	if err != nil {
		return err
	}
	if _, ok := known[canaryReport]; !ok {
		return fmt.Errorf("the database %s does not know %s of %s", database, canaryReport, canary)
	}
	reports, findings, err := govulncheck(database, "./...")
	if err != nil {
		return err
	}
	library, modules := reachable(findings)
	show(library, reports)
	show(modules, reports)
	if len(library) > 0 {
		fmt.Printf("%d of them in the standard library: a newer Go mends them.\n", len(library))
	}
	if len(modules) > 0 {
		return fmt.Errorf("%d vulnerabilities in dependencies can be reached", len(modules))
	}
	if len(library) == 0 {
		fmt.Println("No vulnerabilities found.")
	} else {
		fmt.Println("No vulnerabilities found in dependencies.")
	}
	return nil
}

// database returns the URL of the reports in the module cache.
func database() (string, error) {
	const module = "golang.org/x/vulndb"
	if _, err := output("go", "mod", "download", "-C", "tools/vuln", module); err != nil {
		return "", err
	}
	dir, err := output("go", "list", "-C", "tools/vuln", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	return "file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(string(dir)), "data", "osv")), nil
}

// govulncheck returns the reports that it considered and what it found. With JSON output it exits 0 in both cases.
func govulncheck(database string, args ...string) (map[string]report, []finding, error) {
	out, err := output(filepath.Join("bin", "govulncheck"), append([]string{"-db", database, "-json"}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	reports := map[string]report{}
	var findings []finding
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var m message
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return reports, findings, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("read govulncheck's output: %w", err)
		}
		if m.OSV != nil {
			reports[m.OSV.ID] = *m.OSV
		}
		if m.Finding != nil {
			findings = append(findings, *m.Finding)
		}
	}
}

// reachable returns one finding for each vulnerability and module whose code ours calls: those of the standard library
// and those of dependencies.
func reachable(findings []finding) (library, modules map[string]finding) {
	library, modules = map[string]finding{}, map[string]finding{}
	for _, f := range findings {
		// Findings without a function say only that a module or package is there.
		if len(f.Trace) == 0 || f.Trace[0].Function == "" {
			continue
		}
		if f.Trace[0].Module == "stdlib" {
			library[f.OSV] = f
		} else {
			modules[f.OSV+" "+f.Trace[0].Module] = f
		}
	}
	return library, modules
}

func show(findings map[string]finding, reports map[string]report) {
	for _, key := range slices.Sorted(maps.Keys(findings)) {
		f := findings[key]
		vulnerable, ours := f.Trace[0], f.Trace[len(f.Trace)-1]
		fmt.Printf("%s %s\n  %s %s, fixed in %s; %s reaches %s.%s\n", f.OSV, reports[f.OSV].Summary,
			vulnerable.Module, vulnerable.Version, f.FixedVersion, ours.Package, vulnerable.Package, vulnerable.Function)
	}
}

// output runs a program and returns what it prints; what it complains about is shown.
func output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out, nil
}
