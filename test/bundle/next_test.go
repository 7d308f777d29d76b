// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The next version differs from this one in the version alone, wherever that stands.
func TestNextVersionChangesTheVersionAlone(t *testing.T) {
	to := filepath.Join(t.TempDir(), "next")
	version, err := WriteNext(bundleDir, to)
	if err != nil {
		t.Fatal(err)
	}
	old := readCSV(t, bundleDir)
	want, err := nextVersion(old.Spec.Version.String())
	if err != nil {
		t.Fatal(err)
	}
	csv := readCSV(t, to)
	for what, got := range map[string]string{
		"the version returned": version,
		"spec.version":         csv.Spec.Version.String(),
		"the name":             strings.TrimPrefix(csv.Name, packageName+".v"),
	} {
		if got != want {
			t.Errorf("%s is %s, want %s", what, got, want)
		}
	}
	if csv.Spec.Replaces != old.Name {
		t.Errorf("it replaces %q, want %s", csv.Spec.Replaces, old.Name)
	}
	// All that is left of the old version is that it is replaced.
	files := listFiles(t, to)
	if diff := cmp.Diff(listFiles(t, bundleDir), files); diff != "" {
		t.Errorf("files (-this +next):\n%s", diff)
	}
	oldVersion := old.Spec.Version.String()
	for _, file := range files {
		got, now := readFile(t, filepath.Join(to, file)), readFile(t, filepath.Join(bundleDir, file))
		got = strings.ReplaceAll(strings.Replace(got, "  replaces: "+old.Name+"\n", "", 1), want, oldVersion)
		now = strings.Replace(now, "  replaces: "+old.Spec.Replaces+"\n", "", 1)
		if diff := cmp.Diff(now, got); diff != "" {
			t.Errorf("%s (-this +next):\n%s", file, diff)
		}
	}
	validate(t, to)
}

func TestNextVersionIsAPatchOrWhatACandidateIsOf(t *testing.T) {
	for version, want := range map[string]string{"0.1.0": "0.1.1", "1.2.9": "1.2.10", "0.2.0-rc.1": "0.2.0", "1.0": "", "1.0.x": ""} {
		if got, err := nextVersion(version); got != want || (err != nil) != (want == "") {
			t.Errorf("after %s comes %q (%v), want %q", version, got, err, want)
		}
	}
}

func TestNextVersionNeedsABundleWithTags(t *testing.T) {
	if _, err := WriteNext(t.TempDir(), filepath.Join(t.TempDir(), "next")); err == nil {
		t.Error("a folder without a bundle has a next version")
	}
	if _, err := WriteNext(bundleDir, t.TempDir()); err == nil {
		t.Error("a folder that is there is written to")
	}
	digests := t.TempDir()
	if err := os.CopyFS(filepath.Join(digests, "bundle"), os.DirFS(bundleDir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(digests, "bundle", csvFile)
	csv := readCSV(t, bundleDir)
	content := strings.ReplaceAll(readFile(t, path), ":v"+csv.Spec.Version.String(), "@sha256:"+strings.Repeat("0", 64))
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteNext(filepath.Join(digests, "bundle"), filepath.Join(digests, "next")); err == nil {
		t.Error("images by digest have a next version")
	}
}
