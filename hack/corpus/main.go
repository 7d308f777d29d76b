// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Command corpus writes what the present code stores and renders as that of a version, when
// the version is cut. It runs in the root of a checkout:
//
//	go run ./hack/corpus 0.1.0
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"platformapp/test/corpus"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("want the version as the one argument, such as 0.1.0")
	}
	crds := filepath.Join("config", "crd", "bases")
	schemas, err := corpus.ReadSchemas(crds)
	if err != nil {
		return err
	}
	inputs, err := corpus.Inputs(".")
	if err != nil {
		return err
	}
	version, err := corpus.Operator{}.Cut(ctx, args[0], inputs, schemas)
	if err != nil {
		return err
	}
	folder := filepath.Join("test", "corpus")
	if err := corpus.Write(folder, version, crds); err != nil {
		return err
	}
	fmt.Printf("%s holds %d applications; commit it\n", filepath.Join(folder, args[0]), len(version.Cases))
	return nil
}
