// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// checker type-checks the operator with the files of a mutant in it. What the packages export
// that a mutant leaves as they are comes from the build cache, so that a mutant takes
// a fraction of a second and no build.
type checker struct {
	root string
	// packages are the operator's own, those that are imported first.
	packages []listedPackage
	fset     *token.FileSet
	// files are those of the checkout that were parsed.
	files  map[string]*ast.File
	cached types.Importer
}

// listedPackage is what go list tells of a package.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	Module                  *struct {
		Main      bool
		GoVersion string
	}
}

// newChecker returns a checker of the checkout at root.
func newChecker(ctx context.Context, root string) (*checker, error) {
	const fields = "ImportPath,Dir,Export,GoFiles,Imports,Module"
	command := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json="+fields, ".")
	command.Dir = root
	output, err := command.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("list the packages of the operator: %w: %s", err, failed.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("list the packages of the operator: %w", err)
	}
	c := &checker{root: root, fset: token.NewFileSet(), files: map[string]*ast.File{}}
	exports := map[string]string{}
	for stream := json.NewDecoder(bytes.NewReader(output)); stream.More(); {
		var p listedPackage
		if err := stream.Decode(&p); err != nil {
			return nil, fmt.Errorf("read what go list tells: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main {
			c.packages = append(c.packages, p)
		}
	}
	c.cached = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c, nil
}

// check returns why the operator with these contents of files, by their paths from the root,
// would not compile, or nil.
func (c *checker) check(contents map[string]string) error {
	changed := changedPackages{checked: map[string]*types.Package{}, cached: c.cached}
	used := 0
	for _, p := range c.packages {
		replaced := c.replaced(p, contents)
		used += len(replaced)
		if len(replaced) == 0 && !slices.ContainsFunc(p.Imports, changed.has) {
			continue
		}
		files, err := c.parse(p, replaced)
		if err != nil {
			return err
		}
		config := types.Config{Importer: changed, GoVersion: "go" + p.Module.GoVersion}
		if changed.checked[p.ImportPath], err = config.Check(p.ImportPath, c.fset, files, nil); err != nil {
			return err
		}
	}
	if used != len(contents) {
		return fmt.Errorf("the operator is made of %d of the %d files", used, len(contents))
	}
	return nil
}

// replaced returns those of the contents that are of files of the package, by their whole paths.
func (c *checker) replaced(p listedPackage, contents map[string]string) map[string]string {
	replaced := map[string]string{}
	for path, content := range contents {
		path = filepath.Join(c.root, path)
		if filepath.Dir(path) == p.Dir && slices.Contains(p.GoFiles, filepath.Base(path)) {
			replaced[path] = content
		}
	}
	return replaced
}

// parse returns the files of a package, some of them with other contents.
func (c *checker) parse(p listedPackage, replaced map[string]string) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		content, isReplaced := replaced[path]
		file, isParsed := c.files[path]
		var err error
		switch {
		case isReplaced:
			file, err = parser.ParseFile(c.fset, path, content, parser.SkipObjectResolution)
		case !isParsed:
			file, err = parser.ParseFile(c.fset, path, nil, parser.SkipObjectResolution)
			c.files[path] = file
		}
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// changedPackages imports packages as they were checked, and the others as the build cache has them.
type changedPackages struct {
	checked map[string]*types.Package
	cached  types.Importer
}

func (c changedPackages) has(path string) bool { return c.checked[path] != nil }

// Import returns a package.
func (c changedPackages) Import(path string) (*types.Package, error) {
	if c.has(path) {
		return c.checked[path], nil
	}
	return c.cached.Import(path)
}
