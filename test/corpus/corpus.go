// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package corpus holds what released versions stored and rendered, and proves that the
// present code neither restarts an application of theirs nor refuses an object of theirs.
//
// A folder named after a version has a file for each case: an application as the API
// server stored it, with its status, what it found in the cluster, and what of its
// children must never change. Beside them are the CustomResourceDefinitions of the version.
// Cutting a version writes its folder (make release-corpus); after that it never changes.
package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"
)

// header begins each file that is written.
const header = `# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0
# Written by make release-corpus. DO NOT EDIT: it is what a released version did.
`

// crdFolder is where a version keeps its CustomResourceDefinitions.
const crdFolder = "crds"

// Case is an application of a version.
type Case struct {
	// Name of the case, which is that of its file.
	Name string `json:"-"`
	// Object is the application as it is stored.
	Object map[string]any `json:"object"`
	// Cluster is what it finds.
	Cluster Cluster `json:"cluster,omitzero"`
	// Frozen is what it makes, or nil if the specification was refused after it was stored.
	Frozen *Frozen `json:"frozen,omitempty"`
}

// Version is what a version stored and rendered.
type Version struct {
	// Name of the version, for example 0.1.0.
	Name string
	// Cases of the version, in alphabetical order.
	Cases []Case
}

// Versions returns the names of the versions that a folder holds, the oldest first.
func Versions(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && semver.IsValid("v"+entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return semver.Compare("v"+a, "v"+b) })
	return names, nil
}

// Read returns a version out of the folder of all versions.
func Read(folder, name string) (Version, error) {
	files, err := filepath.Glob(filepath.Join(folder, name, "*.yaml"))
	if err != nil {
		return Version{}, err
	}
	if len(files) == 0 {
		return Version{}, fmt.Errorf("%s has no cases", filepath.Join(folder, name))
	}
	version := Version{Name: name}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return Version{}, err
		}
		c := Case{Name: strings.TrimSuffix(filepath.Base(file), ".yaml")}
		if err := yaml.UnmarshalStrict(raw, &c); err != nil {
			return Version{}, fmt.Errorf("%s: %w", file, err)
		}
		version.Cases = append(version.Cases, c)
	}
	return version, nil
}

// Write writes a version, with the CustomResourceDefinitions in the folder crds, into the
// folder of all versions. It fails if that holds the version already: what was released
// does not change. The version comes whole or not at all.
func Write(folder string, version Version, crds string) (err error) {
	if semver.Canonical("v"+version.Name) != "v"+version.Name {
		return fmt.Errorf("version %q is no semantic version such as 0.1.0", version.Name)
	}
	out := filepath.Join(folder, version.Name)
	if _, err := os.Stat(out); err == nil {
		return fmt.Errorf("%s is there already, and what was released does not change; if it was not released, delete it first", out)
	}
	// What an interrupted run leaves has the name of no version, and goes with the next one.
	draft := filepath.Join(folder, "."+version.Name+".draft")
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	if err := os.Mkdir(draft, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(draft))
		}
	}()
	if err := writeInto(draft, version, crds); err != nil {
		return err
	}
	return os.Rename(draft, out)
}

// writeInto writes what is in the folder of a version.
func writeInto(out string, version Version, crds string) error {
	if err := os.Mkdir(filepath.Join(out, crdFolder), 0o755); err != nil {
		return err
	}
	for _, c := range version.Cases {
		content, err := yaml.Marshal(c)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		if err := write(filepath.Join(out, c.Name+".yaml"), content); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(out, crdFolder, filepath.Base(file)), content); err != nil {
			return err
		}
	}
	return nil
}

func write(file string, content []byte) error {
	return os.WriteFile(file, slices.Concat([]byte(header), bytes.TrimPrefix(content, []byte(header))), 0o644)
}
