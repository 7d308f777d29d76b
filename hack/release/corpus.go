// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"platformapp/test/corpus"
)

// checkCorpus makes the corpus of the version once more and returns how the one that is kept differs from it: a later
// version is tested against what is kept, so that a field or a case that is not in it could be broken unseen.
func checkCorpus(ctx context.Context, root, version string) error {
	kept := filepath.Join(root, "test", "corpus", version)
	if _, err := os.Stat(kept); err != nil {
		return fmt.Errorf("test/corpus/%s is not there; make release-corpus", version)
	}
	draft, err := os.MkdirTemp("", "corpus-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(draft) }() // it is in the system's folder of temporary files
	if err := record(ctx, root, draft, version); err != nil {
		return fmt.Errorf("test/corpus: %w", err)
	}
	differences, err := compare(filepath.Join(draft, version), kept)
	if err == nil && len(differences) > 0 {
		err = fmt.Errorf("test/corpus/%s is not what this code stores and renders; delete it and make release-corpus:\n  %s",
			version, strings.Join(differences, "\n  "))
	}
	return err
}

// record writes the corpus of what is in the folder root into another folder.
func record(ctx context.Context, root, folder, version string) error {
	crds := filepath.Join(root, "config", "crd", "bases")
	schemas, err := corpus.ReadSchemas(crds)
	if err != nil {
		return err
	}
	inputs, err := corpus.Inputs(root)
	if err != nil {
		return err
	}
	cut, err := corpus.Operator{}.Cut(ctx, version, inputs, schemas)
	if err != nil {
		return err
	}
	return corpus.Write(folder, cut, crds)
}

// compare returns which files of two folders differ, in alphabetical order, and how.
func compare(made, kept string) ([]string, error) {
	madeFiles, err := readAll(made)
	if err != nil {
		return nil, err
	}
	keptFiles, err := readAll(kept)
	if err != nil {
		return nil, err
	}
	var differences []string
	for name, content := range madeFiles {
		was, ok := keptFiles[name]
		switch {
		case !ok:
			differences = append(differences, name+" is missing")
		case !bytes.Equal(was, content):
			differences = append(differences, name+" is another")
		}
	}
	for name := range maps.Keys(keptFiles) {
		if _, ok := madeFiles[name]; !ok {
			differences = append(differences, name+" is one too many")
		}
	}
	slices.Sort(differences)
	return differences, nil
}

// readAll returns the files below a folder by their paths in it.
func readAll(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	tree := os.DirFS(folder)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		files[name] = content
		return err
	})
	if err == nil && len(files) == 0 {
		err = errors.New(folder + " is empty")
	}
	return files, err
}
