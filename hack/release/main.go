// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Command release helps to cut a version, see docs/release.md:
//
//	go run ./hack/release check TAG        fails unless everything in the checkout is of the version of TAG
//	go run ./hack/release notes VERSION    prints what CHANGELOG.md says of VERSION
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(context.Background(), ".", os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, args []string, stdout io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: release check TAG | release notes VERSION")
	}
	switch args[0] {
	case "check":
		return check(ctx, root, args[1])
	case "notes":
		notes, err := notes(os.DirFS(root), args[1])
		if err == nil {
			fmt.Fprintln(stdout, notes)
		}
		return err
	default:
		return errors.New("usage: release check TAG | release notes VERSION")
	}
}

// check returns all that keeps the checkout in the folder root from being released as the tag says.
func check(ctx context.Context, root, tag string) error {
	version, ok := strings.CutPrefix(tag, "v")
	if !ok || semver.Canonical(tag) != tag {
		return fmt.Errorf("the tag must be v and a semantic version such as v0.1.0, not %q", tag)
	}
	checkout := os.DirFS(root)
	return errors.Join(
		checkMakefile(checkout, version),
		checkChangelog(checkout, version),
		checkBundle(checkout, version),
		checkCatalog(checkout, version),
		checkCorpus(ctx, root, version),
	)
}

func checkMakefile(checkout fs.FS, version string) error {
	makefile, err := fs.ReadFile(checkout, "Makefile")
	if err != nil {
		return err
	}
	match := regexp.MustCompile(`(?m)^VERSION \?= (\S+)$`).FindSubmatch(makefile)
	if match == nil || string(match[1]) != version {
		return fmt.Errorf("there is no line VERSION ?= %s in Makefile", version)
	}
	return nil
}

func checkChangelog(checkout fs.FS, version string) error {
	_, err := notes(checkout, version)
	return err
}

func checkBundle(checkout fs.FS, version string) error {
	const path = "bundle/manifests/platformapp.clusterserviceversion.yaml"
	content, err := fs.ReadFile(checkout, path)
	if err != nil {
		return err
	}
	var csv struct {
		Metadata struct{ Name string }
		Spec     struct{ Version string }
	}
	if err := yaml.Unmarshal(content, &csv); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if csv.Spec.Version != version || csv.Metadata.Name != "platformapp.v"+version {
		return fmt.Errorf("%s: it is %s of version %s; make bundle", path, csv.Metadata.Name, csv.Spec.Version)
	}
	return nil
}

func checkCatalog(checkout fs.FS, version string) error {
	entry := regexp.MustCompile(`(?m)^\s*(- )?name: platformapp\.v` + regexp.QuoteMeta(version) + `$`)
	found := false
	err := fs.WalkDir(checkout, "catalog", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(checkout, path)
		found = found || entry.Match(content)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("catalog: there is no platformapp.v%s; make catalog", version)
	}
	return err
}

// notes returns what the changelog says of a version: the text below "## [VERSION] - DATE".
func notes(checkout fs.FS, version string) (string, error) {
	changelog, err := fs.ReadFile(checkout, "CHANGELOG.md")
	if err != nil {
		return "", err
	}
	heading := regexp.MustCompile(`^## \[` + regexp.QuoteMeta(version) + `\] - \d{4}-\d{2}-\d{2}$`)
	var text []string
	inside := false
	for line := range strings.Lines(string(changelog)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case heading.MatchString(line):
			inside = true
		case strings.HasPrefix(line, "## ") || regexp.MustCompile(`^\[[^]]+\]: `).MatchString(line):
			inside = false
		case inside:
			text = append(text, line)
		}
	}
	notes := strings.TrimSpace(strings.Join(text, "\n"))
	if notes == "" {
		return "", fmt.Errorf("CHANGELOG.md: there is nothing below a heading ## [%s] - YYYY-MM-DD", version)
	}
	return notes, nil
}
