// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	bundletest "platformapp/test/bundle"
)

const (
	root       = "../.."
	thisBundle = root + "/bundle"
	image      = "quay.io/evillgenius/platformapp-bundle:v{{.Version}}"
)

// program is opm.
var program opm

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "opm-")
	if err == nil {
		program, err = findOPM(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// findOPM returns the opm of make if it is the pinned one, else it builds that into a folder.
func findOPM(folder string) (opm, error) {
	const module = "github.com/operator-framework/operator-registry"
	pins, err := os.ReadFile(filepath.Join(root, "tools", "opm", "go.mod"))
	if err != nil {
		return "", err
	}
	built, err := filepath.Abs(filepath.Join(root, "bin", "opm"))
	if err != nil {
		return "", err
	}
	if info, err := buildinfo.ReadFile(built); err == nil && strings.Contains(string(pins), module+" "+info.Main.Version+" ") {
		return opm(built), nil
	}
	built = filepath.Join(folder, "opm")
	command := exec.CommandContext(context.Background(), "go", "build", "-tags=containers_image_openpgp", "-o", built, module+"/cmd/opm")
	command.Dir = filepath.Join(root, "tools", "opm")
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return opm(built), nil
}

// blobs returns what a catalog holds.
func blobs(t *testing.T, file string) []map[string]any {
	t.Helper()
	out, err := program.run(t.Context(), "render", filepath.Dir(file), "--output=json")
	if err != nil {
		t.Fatal(err)
	}
	var found []map[string]any
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		blob := map[string]any{}
		if err := decoder.Decode(&blob); err != nil {
			t.Fatal(err)
		}
		found = append(found, blob)
	}
	return found
}

// only returns the blobs of a schema.
func only(blobs []map[string]any, schema string) []map[string]any {
	var found []map[string]any
	for _, blob := range blobs {
		if blob["schema"] == schema {
			found = append(found, blob)
		}
	}
	return found
}

// properties counts the properties of a bundle by type.
func properties(blob map[string]any) map[string]int {
	count := map[string]int{}
	list, _ := blob["properties"].([]any)
	for _, property := range list {
		if p, ok := property.(map[string]any); ok {
			count[fmt.Sprint(p["type"])]++
		}
	}
	return count
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func nextBundle(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "next")
	if _, err := bundletest.WriteNext(thisBundle, folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// workingCopy returns a copy of the template and the catalog of the checkout.
func workingCopy(t *testing.T) (template, catalog string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(root+"/catalog")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "template.yaml"), filepath.Join(folder, "platformapp", "catalog.yaml")
}

func TestCatalogIsThatOfTheBundle(t *testing.T) {
	template, catalog := workingCopy(t)
	if err := run(t.Context(), []string{"render", "-opm", string(program), "-template", template, "-image", image, "-out", catalog, thisBundle}); err != nil {
		t.Fatal(err)
	}
	for committed, rendered := range map[string]string{"/catalog/template.yaml": template, "/catalog/platformapp/catalog.yaml": catalog} {
		if diff := cmp.Diff(read(t, root+committed), read(t, rendered)); diff != "" {
			t.Errorf("%s is stale, make catalog writes it anew (-committed +rendered):\n%s", committed, diff)
		}
	}
}

// A new version becomes the head and leaves what was released as it was.
func TestNextVersionIsAddedToTheCatalog(t *testing.T) {
	template, catalog := workingCopy(t)
	before := only(blobs(t, catalog), bundleSchema)
	b, err := readBundle(nextBundle(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := render(t.Context(), program, b, image, template, catalog); err != nil {
		t.Fatal(err)
	}
	after := blobs(t, catalog)
	bundles := only(after, bundleSchema)
	if len(bundles) != len(before)+1 {
		t.Fatalf("the catalog has %d bundles, want one more than %d", len(bundles), len(before))
	}
	if diff := cmp.Diff(before, bundles[:len(before)]); diff != "" {
		t.Errorf("what was released has changed:\n%s", diff)
	}
	if got, want := bundles[len(before)]["image"], strings.ReplaceAll(image, "{{.Version}}", b.version); got != want {
		t.Errorf("the image of the new version is %v, want %s", got, want)
	}
	entries, _ := only(after, channelSchema)[0]["entries"].([]any)
	last, _ := entries[len(entries)-1].(map[string]any)
	if last["name"] != b.entry.Name || last["replaces"] != before[len(before)-1]["name"] || last["skipRange"] != b.entry.SkipRange {
		t.Errorf("the new version's place in the graph is %v", last)
	}
	// Once more nothing changes.
	was := read(t, template) + read(t, catalog)
	if err := render(t.Context(), program, b, image, template, catalog); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, read(t, template)+read(t, catalog)); diff != "" {
		t.Errorf("rendered again it is another:\n%s", diff)
	}
}

// What the template says of a version that was released is kept.
func TestGraphMayBeEditedAfterARelease(t *testing.T) {
	template, catalog := workingCopy(t)
	b, err := readBundle(thisBundle)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(read(t, template), "- name: "+b.entry.Name+"\n", "- name: "+b.entry.Name+"\n    skips:\n    - platformapp.v0.0.9\n", 1)
	if !strings.Contains(edited, "skips") {
		t.Fatalf("the template has another form:\n%s", edited)
	}
	if err := os.WriteFile(template, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := readBundle(nextBundle(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := render(t.Context(), program, next, image, template, catalog); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(read(t, catalog), "platformapp.v0.0.9") || !strings.Contains(read(t, template), "platformapp.v0.0.9") {
		t.Error("the edit is lost")
	}
}

// A version that is not released yet may change its mind about its channels; others stay where they are.
func TestVersionLeavesTheChannelsThatItNoLongerNames(t *testing.T) {
	first := bundle{packageName: "p", channels: []string{"alpha", "stable"}, entry: entry{Name: "p.v0.1.0"}}
	next := bundle{packageName: "p", channels: []string{"alpha", "beta"}, entry: entry{Name: "p.v0.2.0", Replaces: "p.v0.1.0"}}
	var tmpl template
	for _, b := range []bundle{first, next} {
		if err := tmpl.put(b, b.entry.Name); err != nil {
			t.Fatal(err)
		}
	}
	next.channels = []string{"stable"}
	if err := tmpl.put(next, next.entry.Name); err != nil {
		t.Fatal(err)
	}
	got := map[string][]entry{}
	for _, e := range tmpl.Entries {
		if e["schema"] == channelSchema {
			got[e["name"].(string)], _ = e["entries"].([]entry)
		}
	}
	want := map[string][]entry{"alpha": {first.entry}, "stable": {first.entry, next.entry}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
}

func TestVersionThatFollowsNoneIsTold(t *testing.T) {
	var tmpl template
	first := bundle{packageName: "p", channels: []string{"stable"}, entry: entry{Name: "p.v0.1.0"}}
	for range 2 {
		if err := tmpl.put(first, first.entry.Name); err != nil {
			t.Fatal(err)
		}
	}
	next := first
	next.entry = entry{Name: "p.v0.1.1"}
	if err := tmpl.put(next, next.entry.Name); err == nil || !strings.Contains(err.Error(), "make bundle with REPLACES") {
		t.Errorf("a version that replaces none is answered by %v", err)
	}
}

func TestBundleThatIsNowhereFails(t *testing.T) {
	template, catalog := workingCopy(t)
	next, err := readBundle(nextBundle(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(catalog); err != nil {
		t.Fatal(err)
	}
	err = render(t.Context(), program, next, image, template, catalog)
	if err == nil || !strings.Contains(err.Error(), "opm render quay.io/") {
		t.Errorf("it ends with %v", err)
	}
	if _, err := os.Stat(catalog); err == nil {
		t.Error("a catalog that lacks a version is written")
	}
}

// Two versions joined are an upgrade; without images each bundle is inside with all its
// objects.
func TestJoinedBundlesAreAnUpgrade(t *testing.T) {
	files, err := filepath.Glob(thisBundle + "/manifests/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args    []string
		objects int
		image   any
	}{
		"inside":   {nil, len(files), ""},
		"by image": {[]string{"-image", "localhost:5001/b:{{.Version}}"}, 0, "localhost:5001/b:0.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := filepath.Join(t.TempDir(), "catalog.yaml")
			args := append([]string{"join", "-opm", string(program), "-out", catalog}, test.args...)
			if err := run(t.Context(), append(args, thisBundle, nextBundle(t))); err != nil {
				t.Fatal(err)
			}
			bundles := only(blobs(t, catalog), bundleSchema)
			if len(bundles) != 2 || bundles[0]["image"] != test.image {
				t.Fatalf("%d bundles, the first with image %v, want 2 and %v", len(bundles), bundles[0]["image"], test.image)
			}
			for _, b := range bundles {
				if got := properties(b)["olm.bundle.object"]; got != test.objects {
					t.Errorf("%v holds %d objects, want %d", b["name"], got, test.objects)
				}
			}
		})
	}
}

func TestWrongUseIsTold(t *testing.T) {
	for _, test := range []struct {
		args []string
		says string
	}{
		{nil, "want render, join or hub"},
		{[]string{"rend", "-out", "x", thisBundle}, "there is no rend"},
		{[]string{"render", "-out", "x"}, "needs -out and a bundle"},
		{[]string{"join", thisBundle}, "needs -out and a bundle"},
		{[]string{"render", "-out", "x", thisBundle}, "needs -template, -image"},
		{[]string{"hub", "-out", "x", thisBundle, thisBundle}, "hub needs one bundle"},
		{[]string{"hub", "-out", "x", t.TempDir()}, "annotations.yaml"},
	} {
		if err := run(t.Context(), test.args); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("catalog %v ends with %v, want %q", test.args, err, test.says)
		}
	}
}

func TestBrokenBundleIsTold(t *testing.T) {
	for _, test := range []struct {
		name, says string
		breakIt    func(folder string) error
	}{
		{"no channel", "lacks", func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "metadata", "annotations.yaml"), []byte("annotations: {}\n"), 0o600)
		}},
		{"two versions", "has 2 files", func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "manifests", "a.clusterserviceversion.yaml"), nil, 0o600)
		}},
		{"no icon", "want one icon", func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "manifests", "platformapp.clusterserviceversion.yaml"), []byte("spec: {}\n"), 0o600)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(thisBundle)); err != nil {
				t.Fatal(err)
			}
			if err := test.breakIt(folder); err != nil {
				t.Fatal(err)
			}
			if _, err := readBundle(folder); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("it ends with %v, want %q", err, test.says)
			}
		})
	}
}
