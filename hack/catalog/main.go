// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Command catalog makes what users get the operator from: a file-based catalog of its
// bundles, and the folders that the OperatorHub repositories take. It needs no registry.
//
//	go run ./hack/catalog render -template catalog/template.yaml -image REFERENCE -out FILE BUNDLE
//	go run ./hack/catalog join [-image REFERENCE] -out FILE BUNDLE...
//	go run ./hack/catalog hub -out FOLDER BUNDLE
//
// A BUNDLE is a folder with manifests/ and metadata/.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "catalog:", err)
		os.Exit(1)
	}
}

// run carries out one command line.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("want render, join or hub")
	}
	flags := flag.NewFlagSet("catalog "+args[0], flag.ContinueOnError)
	program := flags.String("opm", "bin/opm", "The program opm, which make builds.")
	out := flags.String("out", "", "What to write: a catalog's file, or the folder of the hubs.")
	template := flags.String("template", "", "The template to which render adds the bundle.")
	image := flags.String("image", "", "The bundle's image, with {{.Version}} for its version.")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *out == "" || flags.NArg() == 0 {
		return fmt.Errorf("%s needs -out and a bundle", args[0])
	}
	var bundles []bundle
	for _, folder := range flags.Args() {
		b, err := readBundle(folder)
		if err != nil {
			return err
		}
		bundles = append(bundles, b)
	}
	switch args[0] {
	case "render":
		if *template == "" || *image == "" || len(bundles) != 1 {
			return errors.New("render needs -template, -image and one bundle")
		}
		return render(ctx, opm(*program), bundles[0], *image, *template, *out)
	case "join":
		return join(ctx, opm(*program), bundles, *image, *out)
	case "hub":
		if len(bundles) != 1 {
			return errors.New("hub needs one bundle")
		}
		return layOut(bundles[0], "operatorhub", *out)
	default:
		return fmt.Errorf("there is no %s: want render, join or hub", args[0])
	}
}
