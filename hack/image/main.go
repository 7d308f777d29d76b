// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Command image builds and pushes container images with no container engine:
//
//	go run ./hack/image build -t NAME [flags] CONTEXT    builds NAME into dist/images
//	go run ./hack/image digest NAME...                   prints what was built
//	go run ./hack/image push [-new] NAME...              pushes it; credentials are those of docker login
//	go run ./hack/image compare NAME...                  fails unless the registry has the same
//
// Its arguments are docker's, so make bundle-build CONTAINER_TOOL="go run ./hack/image" works. It carries out the last
// stage of a Dockerfile and runs nothing: what an earlier stage makes is given with -stage.
//
// Equal files give an equal image, byte for byte: nothing of the machine enters, and each time in the image is
// SOURCE_DATE_EPOCH (seconds; 0 if unset).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const usage = "usage: image build -t NAME [flags] CONTEXT | image digest NAMES | image push [-new] NAMES | image compare NAMES"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch args[0] {
	case "build":
		return runBuild(ctx, args[1:], stdout)
	case "digest", "push", "compare":
		return runOnBuilt(ctx, args[0], args[1:], stdout)
	case "-h", "-help", "--help":
		fmt.Fprintln(stdout, usage)
		return nil
	default:
		return errors.New(usage)
	}
}

func runBuild(ctx context.Context, args []string, stdout io.Writer) error {
	b := build{args: map[string]string{}, stages: map[string]string{}}
	var tag, platforms, store string
	flags := flag.NewFlagSet("image build", flag.ContinueOnError)
	flags.StringVar(&tag, "t", "", "The `name` of the image with its tag.")
	for _, spelling := range []string{"f", "file"} {
		flags.StringVar(&b.dockerfile, spelling, "Dockerfile", "The Dockerfile.")
	}
	flags.StringVar(&platforms, "platform", "linux/amd64", "The platforms, separated by commas. Of several an index is made.")
	flags.StringVar(&b.base, "base", "", "The image to build on instead of what FROM names: a name, or "+minimal+".")
	flags.Func("build-arg", "`NAME=VALUE` of an ARG.", pair(b.args))
	flags.Func("stage", "`NAME=DIR`: what COPY --from=NAME copies is below DIR, in which {platform} stands for linux-amd64 and the like.", pair(b.stages))
	flags.StringVar(&store, "store", "dist/images", "The folder of the images.")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("one folder is the context of the build, see --help")
	}
	b.context = flags.Arg(0)
	ref, err := newTag(tag)
	if err != nil {
		return fmt.Errorf("-t: %w", err)
	}
	for text := range strings.SplitSeq(platforms, ",") {
		platform, err := v1.ParsePlatform(text)
		if err != nil || platform.OS == "" || platform.Architecture == "" {
			return fmt.Errorf("-platform: %q is not of the form os/architecture", text)
		}
		b.platforms = append(b.platforms, *platform)
	}
	if b.created, err = sourceDate(os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return err
	}
	artifact, err := b.run(ctx)
	if err != nil {
		return err
	}
	digest, err := save(store, ref, artifact)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s@%s\n", ref, digest)
	return nil
}

// runOnBuilt runs a command on images that were built, and prints their names with their digests.
func runOnBuilt(ctx context.Context, command string, args []string, stdout io.Writer) error {
	var store string
	var onlyNew bool
	do := digest
	flags := flag.NewFlagSet("image "+command, flag.ContinueOnError)
	flags.StringVar(&store, "store", "dist/images", "The folder of the images.")
	switch command {
	case "push":
		do = push
		flags.BoolVar(&onlyNew, "new", false, "Move no tag: fail before anything is pushed if the registry has another image of one of the names.")
	case "compare":
		do = compare
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("the name of an image is missing, see --help")
	}
	var refs []name.Tag
	for _, text := range flags.Args() {
		ref, err := newTag(text)
		if err != nil {
			return err
		}
		refs = append(refs, ref)
	}
	if onlyNew {
		if err := checkNew(ctx, store, refs); err != nil {
			return err
		}
	}
	for _, ref := range refs {
		digest, err := do(ctx, store, ref)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s@%s\n", ref, digest)
	}
	return nil
}

// newTag reads the name of an image with its tag.
func newTag(text string) (name.Tag, error) {
	ref, err := name.NewTag(text, name.StrictValidation)
	if err != nil {
		return ref, fmt.Errorf("%q is not of the form REGISTRY/REPOSITORY:TAG: %w", text, err)
	}
	return ref, nil
}

// pair returns a function that adds NAME=VALUE to a map.
func pair(pairs map[string]string) func(string) error {
	return func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return fmt.Errorf("%q is not of the form NAME=VALUE", text)
		}
		pairs[name] = value
		return nil
	}
}

// sourceDate reads SOURCE_DATE_EPOCH, see https://reproducible-builds.org/specs/source-date-epoch.
func sourceDate(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %q is not a number of seconds since 1970", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
