// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const checkout = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// generated returns a folder with the bundle of the checkout as operator-sdk leaves it: without what complete adds.
func generated(t *testing.T) string {
	t.Helper()
	work := t.TempDir()
	dir := filepath.Join(work, bundleDir)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(checkout, bundleDir))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, webhookServiceFile), "kind: Service\nmetadata: {}\n")
	if err := edit(filepath.Join(dir, csvFile), func(csv map[string]any) error {
		delete(csv["spec"].(map[string]any), "relatedImages")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "manifests", "*.yaml"))
	if err != nil || len(manifests) < 10 {
		t.Fatalf("%d manifests (%v)", len(manifests), err)
	}
	for _, path := range manifests {
		if err := edit(path, func(object map[string]any) error {
			object["status"] = map[string]any{"conditions": nil}
			object["metadata"].(map[string]any)["creationTimestamp"] = nil
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	without := func(path string, lines *regexp.Regexp) string {
		content := read(t, path)
		if !lines.MatchString(content) {
			t.Fatalf("%s has nothing that matches %s", path, lines)
		}
		return lines.ReplaceAllString(content, "")
	}
	path := filepath.Join(dir, annotationsFile)
	write(t, path, without(path, regexp.MustCompile(`\n  # OpenShift annotations\.\n.*\n`)))
	dockerfile := without(filepath.Join(checkout, bundleDir+".Dockerfile"), regexp.MustCompile(`# OpenShift labels\.\n.*\n\n`))
	write(t, filepath.Join(work, bundleDir+".Dockerfile"), strings.TrimPrefix(dockerfile, header))
	return work
}

func TestCompleteAddsWhatTheSDKLeavesOut(t *testing.T) {
	work := generated(t)
	if err := complete(work, false); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{bundleDir + "/" + csvFile, bundleDir + "/" + annotationsFile, bundleDir + ".Dockerfile"} {
		if diff := cmp.Diff(read(t, filepath.Join(checkout, file)), read(t, filepath.Join(work, file))); diff != "" {
			t.Errorf("%s (-checkout +complete):\n%s", file, diff)
		}
	}
	if same, err := equal(filepath.Join(work, bundleDir), filepath.Join(checkout, bundleDir)); err != nil || !same {
		t.Errorf("the bundle is that of the checkout: %t (%v)", same, err)
	}
}

func TestBundleWithDigestsCanBeMirrored(t *testing.T) {
	work := generated(t)
	if err := complete(work, true); err != nil {
		t.Fatal(err)
	}
	if csv := read(t, filepath.Join(work, bundleDir, csvFile)); !strings.Contains(csv, disconnected+`: "true"`) {
		t.Error("a bundle whose images are named by digests is not for disconnected clusters")
	}
}

// A bundle that is made again is the same, and one that differs has its own time.
func TestTimeChangesWithTheBundleAlone(t *testing.T) {
	former := filepath.Join(checkout, bundleDir)
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	for name, test := range map[string]struct {
		change func(t *testing.T, dir string)
		same   bool
	}{
		"nothing changed": {func(*testing.T, string) {}, true},
		"another text": {func(t *testing.T, dir string) {
			path := filepath.Join(dir, annotationsFile)
			write(t, path, read(t, path)+"  more: text\n")
		}, false},
		"one file more": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "manifests/more.yaml"), "kind: Service\n") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			work := generated(t)
			if err := complete(work, false); err != nil {
				t.Fatal(err)
			}
			test.change(t, filepath.Join(work, bundleDir))
			if err := date(work, former, now); err != nil {
				t.Fatal(err)
			}
			stamp := regexp.MustCompile(`(?m)^    createdAt: .*$`)
			got, want := stamp.FindString(read(t, filepath.Join(work, bundleDir, csvFile))), `    createdAt: "2030-01-02T02:04:05Z"`
			if test.same {
				want = stamp.FindString(read(t, filepath.Join(former, csvFile)))
			}
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestTimeIsThatOfTheSource(t *testing.T) {
	for epoch, want := range map[string]time.Time{"1700000000": time.Unix(1700000000, 0), "": time.Now()} {
		got, err := madeAt(func(string) string { return epoch })
		if err != nil || got.Sub(want).Abs() > time.Minute {
			t.Errorf("SOURCE_DATE_EPOCH=%s is %v (%v), want %v", epoch, got, err, want)
		}
	}
	if _, err := madeAt(func(string) string { return "yesterday" }); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("a time that is none is answered by %v", err)
	}
}

func TestFirstBundleHasATime(t *testing.T) {
	work := generated(t)
	if err := date(work, filepath.Join(t.TempDir(), "none"), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(read(t, filepath.Join(work, bundleDir, csvFile)), `createdAt: "1970-01-01T00:00:00Z"`) {
		t.Error("a first bundle has another time than its own")
	}
}

// config/ names the version of the Makefile, and any other one when it is asked to.
func TestVersionIsKeptInConfig(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "config"), os.DirFS(filepath.Join(checkout, "config"))); err != nil {
		t.Fatal(err)
	}
	makefile := read(t, filepath.Join(checkout, "Makefile"))
	variable := func(name string) string {
		return regexp.MustCompile(`(?m)^` + name + ` \?= ?(.*)$`).FindStringSubmatch(makefile)[1]
	}
	version := variable("VERSION")
	image := variable("IMAGE_TAG_BASE")
	o := options{version: version, replaces: variable("REPLACES"), upgradesFrom: variable("UPGRADES_FROM"), image: image + ":v" + version, scorecardImage: image + "-scorecard:v" + version}
	files := []string{versionPatch, managerImage, testsImage}
	if err := o.writeVersion(root); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if diff := cmp.Diff(read(t, filepath.Join(checkout, file)), read(t, filepath.Join(root, file))); diff != "" {
			t.Errorf("%s: run make bundle (-checkout +written):\n%s", file, diff)
		}
	}

	o = options{version: "7.8.9", replaces: "7.8.8", upgradesFrom: "7.7.0", image: "registry.example.com:5000/other/app:v7.8.9", scorecardImage: "registry.example.com:5000/other/tests:v7.8.9"}
	if err := o.writeVersion(root); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		versionPatch: "    olm.skipRange: '>=7.7.0 <7.8.9'\nspec:\n  replaces: platformapp.v7.8.8\n",
		managerImage: "  newName: registry.example.com:5000/other/app\n  newTag: \"v7.8.9\"\n",
		testsImage:   "    image: registry.example.com:5000/other/tests:v7.8.9\n",
	} {
		if content := read(t, filepath.Join(root, file)); !strings.Contains(content, want) || strings.Contains(content, "v"+version+"\n") || strings.Contains(content, "v"+version+`"`) {
			t.Errorf("%s lacks %q, or still has version %s:\n%s", file, want, version, content)
		}
	}
}

// The Dockerfile stands beside the folder that it copies from.
func TestBundleIsInstalledWithItsDockerfile(t *testing.T) {
	work := generated(t)
	output := filepath.Join(t.TempDir(), "to", "next")
	for range 2 { // Also in the place of a former one.
		if err := install(work, output); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(output, "manifests/stale.yaml"), "")
	}
	if err := install(work, output); err != nil {
		t.Fatal(err)
	}
	if same, err := equal(filepath.Join(work, bundleDir), output); err != nil || !same {
		t.Errorf("what is installed is what was made: %t (%v)", same, err)
	}
	if dockerfile := read(t, output+".Dockerfile"); strings.Count(dockerfile, "COPY next/") != 3 || strings.Contains(dockerfile, "COPY bundle/") {
		t.Errorf("the Dockerfile copies from elsewhere:\n%s", dockerfile)
	}
}

// BUNDLE_DIR is anybody's: what is no bundle is not deleted, and an interrupted run is no hindrance.
func TestOnlyABundleIsReplaced(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "precious.txt"), "")
	file := filepath.Join(folder, "precious.txt")
	for _, output := range []string{folder, file} {
		if err := checkOutput(output); err == nil || !strings.Contains(err.Error(), "--output") {
			t.Errorf("%s, which is no bundle, is answered by %v", output, err)
		}
	}
	for _, output := range []string{t.TempDir(), filepath.Join(folder, "new"), filepath.Join(checkout, bundleDir)} {
		if err := checkOutput(output); err != nil {
			t.Errorf("%s is refused: %v", output, err)
		}
	}

	output := filepath.Join(folder, "bundle")
	if err := os.MkdirAll(filepath.Join(folder, ".bundle.draft", "manifests"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, ".bundle.draft", "manifests", "half.yaml"), "")
	work := generated(t)
	if err := install(work, output); err != nil {
		t.Fatal(err)
	}
	if same, err := equal(filepath.Join(work, bundleDir), output); err != nil || !same {
		t.Errorf("after an interrupted run the bundle is what was made: %t (%v)", same, err)
	}
	write(t, filepath.Join(output, csvFile), "kind: \"Cluster")
	if err := date(work, output, time.Unix(0, 0)); err != nil {
		t.Errorf("a former bundle that cannot be read hinders the next one: %v", err)
	}
}

func TestBundleOfTheCheckoutIsKnownByAnyPath(t *testing.T) {
	t.Chdir(checkout)
	here, err := filepath.Abs(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	for output, want := range map[string]bool{"bundle": true, "./bundle/": true, here: true, "config/../bundle": true, "bin/next/bundle": false} {
		o, err := parse([]string{"--version=0.2.0", "--upgrades-from=0.1.0-0", "--image=quay.io/o/app:v0.2.0",
			"--scorecard-image=quay.io/o/tests:v0.2.0", "--operator-sdk=true", "--output=" + output})
		if err != nil || o.checkout != want {
			t.Errorf("%s is that of the checkout: %t (%v), want %t", output, o.checkout, err, want)
		}
	}
}

func TestBadFlagsAreNamed(t *testing.T) {
	good := []string{"--version=0.2.0", "--upgrades-from=0.1.0-0", "--image=quay.io/o/app:v0.2.0", "--scorecard-image=quay.io/o/tests:v0.2.0", "--operator-sdk=true"}
	if _, err := parse(good); err != nil {
		t.Fatalf("good flags are refused: %v", err)
	}
	for _, bad := range []string{
		"--version=", "--version=v0.2.0", "--version=0.2", "--replaces=0.2.0", "--replaces=next",
		"--upgrades-from=", "--upgrades-from=0.2.0", "--upgrades-from=v0.1.0",
		"--image=", "--image=controller:latest", "--image=quay.io/o/app", "--image=quay.io/o/app:latest", "--image=quay.io:443/app",
		"--image=quay.io/o/app@sha256:1111", "--image=quay.io/o/app:a b", "--channels=", "--channels=alpha,", "--default-channel=nope",
		"--scorecard-image=tests:v1",
	} {
		name, _, _ := strings.Cut(bad, "=")
		if _, err := parse(append(good, bad)); err == nil || !strings.Contains(err.Error(), name+" ") {
			t.Errorf("%s is answered by %v, which does not name the flag", bad, err)
		}
	}
	if _, err := parse(append(good, "stray")); err == nil || !strings.Contains(err.Error(), "stray") {
		t.Errorf("what is no flag is answered by %v", err)
	}
	if _, err := parse(append(good, "--operator-sdk="+filepath.Join(t.TempDir(), "none"))); err == nil {
		t.Error("an operator-sdk that is not there is taken")
	}
}

func TestRelatedImagesNeedAContainer(t *testing.T) {
	if _, err := relatedImages(map[string]any{}); err == nil {
		t.Error("a CSV without containers has related images")
	}
}

func TestProgramsAreRunWithTheirInput(t *testing.T) {
	var out bytes.Buffer
	if err := (options{}).execute(t.Context(), t.TempDir(), bytes.NewBufferString("in"), &out, "cat"); err != nil || out.String() != "in" {
		t.Errorf("a program gets %q (%v), want its input", out.String(), err)
	}
	if err := (options{}).execute(t.Context(), ".", nil, nil, "false"); err == nil {
		t.Error("a program that fails is no error")
	}
}
