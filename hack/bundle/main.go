// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Command bundle makes the OLM bundle of what config/ describes; make bundle runs it. operator-sdk generates the bundle,
// and [complete] adds what operator-sdk does not know or forgets.
//
// A bundle that is written to ./bundle is that of the checkout: the version is kept in config/ first, and the markers
// in api/ are read anew. One that is written elsewhere leaves the checkout as it is.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"golang.org/x/mod/semver"
)

const (
	packageName = "platformapp"
	// The folder of the bundle in a checkout, and the name that operator-sdk calls it by.
	bundleDir = "bundle"

	baseCSV      = "config/manifests/bases/" + packageName + ".clusterserviceversion.yaml"
	versionPatch = "config/manifests/version_patch.yaml"
	managerImage = "config/manager/kustomization.yaml"
	testsImage   = "config/scorecard/patches/platformapp.config.yaml"

	header = "# SPDX-FileCopyrightText: The platformapp authors\n# SPDX-License-Identifier: Apache-2.0\n"
)

// options are what make bundle passes on.
type options struct {
	version, replaces         string
	image, scorecardImage     string
	channels, defaultChannel  string
	upgradesFrom              string
	output                    string
	operatorSDK, kustomize    string
	useImageDigests, checkout bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if err := checkOutput(o.output); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "bundle-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := o.generate(ctx, work); err != nil {
		return err
	}
	if err := complete(work, o.useImageDigests); err != nil {
		return err
	}
	made, err := madeAt(os.Getenv)
	if err != nil {
		return err
	}
	if err := date(work, o.output, made); err != nil {
		return err
	}
	return install(work, o.output)
}

// madeAt returns the time that the bundle tells: that of SOURCE_DATE_EPOCH, in seconds, so that who makes it again gets the
// same, or else now.
func madeAt(env func(string) string) (time.Time, error) {
	epoch := env("SOURCE_DATE_EPOCH")
	if epoch == "" {
		return time.Now(), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH must be a number of seconds, not %q", epoch)
	}
	return time.Unix(seconds, 0), nil
}

// parse reads the flags; an error names the one that is of no use.
func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bundle", flag.ContinueOnError)
	flags.StringVar(&o.version, "version", "", "The version of the bundle, such as 0.1.0.")
	flags.StringVar(&o.replaces, "replaces", "", "The version that it replaces in its channel; empty for the first one.")
	flags.StringVar(&o.upgradesFrom, "upgrades-from", "", "The oldest version that OLM may upgrade straight to this one.")
	flags.StringVar(&o.image, "image", "", "The image of the manager, with its tag.")
	flags.StringVar(&o.scorecardImage, "scorecard-image", "", "The image of our own scorecard tests, with its tag.")
	flags.StringVar(&o.channels, "channels", "stable", "The channels, separated by commas.")
	flags.StringVar(&o.defaultChannel, "default-channel", "stable", "The channel that a subscription takes unless it names one.")
	flags.StringVar(&o.output, "output", bundleDir, "The folder of the bundle. Its Dockerfile is written beside it.")
	flags.StringVar(&o.operatorSDK, "operator-sdk", "operator-sdk", "The program operator-sdk.")
	flags.StringVar(&o.kustomize, "kustomize", "bin/kustomize", "The program kustomize.")
	flags.BoolVar(&o.useImageDigests, "use-image-digests", false, "Name images by their digests, which are asked of their registries.")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if err := o.check(); err != nil {
		return o, err
	}
	ofCheckout, err := filepath.Abs(bundleDir)
	if err != nil {
		return o, err
	}
	if o.output, err = filepath.Abs(o.output); err != nil {
		return o, err
	}
	o.checkout = o.output == ofCheckout
	if o.kustomize, err = filepath.Abs(o.kustomize); err != nil {
		return o, err
	}
	if o.operatorSDK, err = exec.LookPath(o.operatorSDK); err != nil {
		return o, err
	}
	o.operatorSDK, err = filepath.Abs(o.operatorSDK)
	return o, err
}

// check returns what is wrong with the versions, the channels and the images; the error names the flag.
func (o options) check() error {
	for flagName, version := range map[string]string{"version": o.version, "replaces": o.replaces, "upgrades-from": o.upgradesFrom} {
		if (version != "" || flagName != "replaces") && (!semver.IsValid("v"+version) || semver.Canonical("v"+version) != "v"+version) {
			return fmt.Errorf("--%s must be a semantic version such as 0.1.0, not %q", flagName, version)
		}
	}
	if o.replaces != "" && semver.Compare("v"+o.replaces, "v"+o.version) >= 0 {
		return fmt.Errorf("--replaces must be a version before %s, not %s", o.version, o.replaces)
	}
	if semver.Compare("v"+o.upgradesFrom, "v"+o.version) >= 0 {
		return fmt.Errorf("--upgrades-from must be a version before %s, not %s", o.version, o.upgradesFrom)
	}
	if channels := strings.Split(o.channels, ","); slices.Contains(channels, "") {
		return fmt.Errorf("--channels must be names, with commas between them, not %q", o.channels)
	} else if !slices.Contains(channels, o.defaultChannel) {
		return fmt.Errorf("--default-channel must be one of %s, not %q", o.channels, o.defaultChannel)
	}
	for flagName, image := range map[string]string{"image": o.image, "scorecard-image": o.scorecardImage} {
		if tag, err := name.NewTag(image, name.StrictValidation); err != nil || tag.TagStr() == "latest" {
			return fmt.Errorf("--%s must be an image with its registry and a tag other than latest, not %q", flagName, image)
		}
	}
	return nil
}

// generate has operator-sdk write the bundle and its Dockerfile into a folder.
func (o options) generate(ctx context.Context, work string) error {
	root := "."
	if o.checkout {
		// It also makes the descriptors of the markers in api/, and drops every comment.
		if err := o.execute(ctx, root, nil, nil, o.operatorSDK, "generate", "kustomize", "manifests", "--quiet", "--interactive=false"); err != nil {
			return err
		}
		if err := prepend(baseCSV, header+"\n"); err != nil {
			return err
		}
	} else {
		root = work
		if err := os.CopyFS(filepath.Join(work, "config"), os.DirFS("config")); err != nil {
			return err
		}
	}
	if err := o.writeVersion(root); err != nil {
		return err
	}
	var rendered bytes.Buffer
	if err := o.execute(ctx, root, nil, &rendered, o.kustomize, "build", "config/manifests"); err != nil {
		return err
	}
	// It reads the name of the package and the layout of the project.
	if err := copyFile("PROJECT", filepath.Join(work, "PROJECT")); err != nil {
		return err
	}
	args := []string{"generate", "bundle", "--quiet", "--overwrite", "--output-dir", bundleDir,
		"--version", o.version, "--channels", o.channels, "--default-channel", o.defaultChannel}
	if o.useImageDigests {
		args = append(args, "--use-image-digests")
	}
	return o.execute(ctx, work, &rendered, nil, o.operatorSDK, args...)
}

// execute runs a program in a folder. Nil is no input, and output to where errors go.
func (o options) execute(ctx context.Context, dir string, stdin, stdout *bytes.Buffer, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir, command.Stdout, command.Stderr = dir, os.Stderr, os.Stderr
	if stdin != nil {
		command.Stdin = stdin
	}
	if stdout != nil {
		command.Stdout = stdout
	}
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return nil
}

// What makes out an image in the configuration.
var (
	managerImageLines = regexp.MustCompile(`(?m)^(  newName: ).*\n(  newTag: ).*$`)
	testsImageLines   = regexp.MustCompile(`(?m)^(    image: ).*$`)
)

// writeVersion keeps version and images in the configuration below a folder.
func (o options) writeVersion(root string) error {
	patch := header + `
# Written by make bundle from VERSION, REPLACES and UPGRADES_FROM. What has a version of the range may go straight to this
# one.
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: ` + packageName + `.v0.0.0
  annotations:
    olm.skipRange: '>=` + o.upgradesFrom + ` <` + o.version + `'
`
	if o.replaces != "" {
		patch += "spec:\n  replaces: " + packageName + ".v" + o.replaces + "\n"
	}
	if err := os.WriteFile(filepath.Join(root, versionPatch), []byte(patch), 0o644); err != nil {
		return err
	}
	at := strings.LastIndex(o.image, ":")
	return errors.Join(
		replaceLines(filepath.Join(root, managerImage), managerImageLines, "${1}"+o.image[:at]+"\n${2}"+strconv.Quote(o.image[at+1:])), // a tag may look like a number
		replaceLines(filepath.Join(root, testsImage), testsImageLines, "${1}"+o.scorecardImage),
	)
}

// replaceLines replaces all that a pattern matches in a file, which must be something.
func replaceLines(path string, lines *regexp.Regexp, with string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !lines.Match(content) {
		return fmt.Errorf("%s has nothing that matches %s", path, lines)
	}
	return os.WriteFile(path, lines.ReplaceAll(content, []byte(with)), 0o644)
}

// checkOutput refuses a folder that has something else than a bundle of ours, which would be deleted with it.
func checkOutput(output string) error {
	entries, err := os.ReadDir(output)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	if _, err := os.Stat(filepath.Join(output, csvFile)); err != nil {
		return fmt.Errorf("--output must be a new folder or one with a bundle, and %s has no %s", output, csvFile)
	}
	return nil
}

// install puts the bundle of a folder, and its Dockerfile beside it, in the place of a former one. The bundle comes whole:
// whenever it is interrupted, there is the former one, none, or the new one.
func install(work, output string) error {
	parent, base := filepath.Split(output)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	// What an interrupted run may have left has this name too.
	draft := filepath.Join(parent, "."+base+".draft")
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	if err := os.CopyFS(draft, os.DirFS(filepath.Join(work, bundleDir))); err != nil {
		return err
	}
	if err := os.RemoveAll(output); err != nil {
		return err
	}
	if err := os.Rename(draft, output); err != nil {
		return err
	}
	dockerfile, err := os.ReadFile(filepath.Join(work, bundleDir+".Dockerfile"))
	if err != nil {
		return err
	}
	// It copies from the folder that it stands beside.
	dockerfile = bytes.ReplaceAll(dockerfile, []byte("COPY "+bundleDir+"/"), []byte("COPY "+base+"/"))
	return os.WriteFile(output+".Dockerfile", dockerfile, 0o644)
}

func prepend(path, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(text), content...), 0o644)
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
