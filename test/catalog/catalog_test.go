// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package catalog tests the file-based catalog of the checkout: that it offers the bundle of
// the checkout, in a graph that leads from each version to it.
package catalog

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const root = "../.."

type icon struct{ Base64data, Mediatype string }

type entry struct {
	Name, Replaces, SkipRange string
	Skips                     []string
}

// blob is what is read of what a catalog holds, of whatever schema.
type blob struct {
	Schema, Name, Package, Image string
	// Of a package.
	DefaultChannel, Description string
	Icon                        icon
	// Of a channel.
	Entries []entry
	// Of a bundle.
	Properties []struct {
		Type  string
		Value struct{ PackageName, Version string }
	}
	RelatedImages []struct{ Image string }
}

// clusterServiceVersion is what is read of the bundle's.
type clusterServiceVersion struct {
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Spec struct {
		Version, Replaces string
		Skips             []string
		Icon              []icon
		RelatedImages     []struct{ Image string }
	}
}

// read returns the blobs of a schema.
func read(t *testing.T, schema string) []blob {
	t.Helper()
	file, err := os.Open(root + "/catalog/platformapp/catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var blobs []blob
	for decoder := utilyaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		var b blob
		if err := decoder.Decode(&b); errors.Is(err, io.EOF) {
			return blobs
		} else if err != nil {
			t.Fatal(err)
		}
		if b.Schema == schema {
			blobs = append(blobs, b)
		}
	}
}

func readCSV(t *testing.T) clusterServiceVersion {
	t.Helper()
	var csv clusterServiceVersion
	readYAML(t, "/bundle/manifests/platformapp.clusterserviceversion.yaml", &csv)
	return csv
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, path)), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestPackageLooksAsTheBundleAndOffersStable(t *testing.T) {
	packages, csv := read(t, "olm.package"), readCSV(t)
	if len(packages) != 1 {
		t.Fatalf("the catalog has %d packages", len(packages))
	}
	want := blob{
		Schema: "olm.package", Name: "platformapp", DefaultChannel: "stable",
		Description: csv.Metadata.Annotations["description"], Icon: csv.Spec.Icon[0],
	}
	if diff := cmp.Diff(want, packages[0]); diff != "" || want.Icon.Base64data == "" || want.Description == "" {
		t.Errorf("the package (-want +got):\n%s", diff)
	}
}

// The head of each channel is the version of the bundle, and the channels are the bundle's.
func TestHeadIsTheBundle(t *testing.T) {
	csv := readCSV(t)
	var annotations struct{ Annotations map[string]string }
	readYAML(t, "/bundle/metadata/annotations.yaml", &annotations)
	var names []string
	for _, channel := range read(t, "olm.channel") {
		names = append(names, channel.Name)
		head := channel.Entries[len(channel.Entries)-1]
		want := entry{Name: csv.Metadata.Name, Replaces: csv.Spec.Replaces, Skips: csv.Spec.Skips, SkipRange: csv.Metadata.Annotations["olm.skipRange"]}
		if diff := cmp.Diff(want, head); diff != "" {
			t.Errorf("the head of %s is not the bundle (-want +got):\n%s", channel.Name, diff)
		}
		if channel.Package != "platformapp" {
			t.Errorf("channel %s is of package %s", channel.Name, channel.Package)
		}
	}
	if got, want := strings.Join(names, ","), annotations.Annotations["operators.operatorframework.io.bundle.channels.v1"]; got != want {
		t.Errorf("the channels are %s, the bundle's %s", got, want)
	}
}

// Each version but the first replaces the one before it, so that none is left behind.
func TestEachVersionReplacesTheOneBefore(t *testing.T) {
	for _, channel := range read(t, "olm.channel") {
		for i, e := range channel.Entries {
			before := ""
			if i > 0 {
				before = channel.Entries[i-1].Name
			}
			if e.Replaces != before && !slices.Contains(e.Skips, before) {
				t.Errorf("%s replaces %q, want %q", e.Name, e.Replaces, before)
			}
			if _, version, _ := strings.Cut(e.Name, ".v"); !strings.HasSuffix(e.SkipRange, "<"+version) {
				t.Errorf("%s skips %q, want all versions below it", e.Name, e.SkipRange)
			}
		}
	}
}

// Each version of the channels has its bundle, by its image and not by its objects, which
// catalogs of OpenShift 4.17 and later must not hold.
func TestEachVersionHasItsBundle(t *testing.T) {
	offered := map[string]bool{}
	for _, channel := range read(t, "olm.channel") {
		for _, e := range channel.Entries {
			offered[e.Name] = true
		}
	}
	for _, b := range read(t, "olm.bundle") {
		if !offered[b.Name] {
			t.Errorf("%s is in no channel", b.Name)
		}
		delete(offered, b.Name)
		_, version, _ := strings.Cut(b.Name, ".v")
		if want := "quay.io/evillgenius/platformapp-bundle:v" + version; b.Image != want {
			t.Errorf("the image of %s is %s, want %s", b.Name, b.Image, want)
		}
		count := map[string]int{}
		for _, property := range b.Properties {
			count[property.Type]++
			if property.Type == "olm.package" && property.Value.Version != version {
				t.Errorf("%s has version %s", b.Name, property.Value.Version)
			}
		}
		if diff := cmp.Diff(map[string]int{"olm.package": 1, "olm.csv.metadata": 1, "olm.gvk": 2}, count); diff != "" {
			t.Errorf("%s: properties (-want +got):\n%s", b.Name, diff)
		}
	}
	for name := range offered {
		t.Errorf("%s has no bundle", name)
	}
}

// A mirror copies what the catalog names: all that the bundle names, and the bundle itself.
func TestCatalogNamesAllImages(t *testing.T) {
	bundles, csv := read(t, "olm.bundle"), readCSV(t)
	head := bundles[len(bundles)-1]
	var got []string
	for _, related := range head.RelatedImages {
		got = append(got, related.Image)
	}
	for _, related := range csv.Spec.RelatedImages {
		if !slices.Contains(got, related.Image) {
			t.Errorf("the catalog does not name %s", related.Image)
		}
	}
	if !slices.Contains(got, head.Image) || len(csv.Spec.RelatedImages) == 0 {
		t.Errorf("the catalog names %v, without the bundle", got)
	}
}

// What stands beside the catalog fits it.
func TestImageOfTheCatalogFits(t *testing.T) {
	dockerfile := readFile(t, "/catalog.Dockerfile")
	pinned := regexp.MustCompile(`operator-registry (v\S+)`).FindStringSubmatch(readFile(t, "/tools/opm/go.mod"))
	if pinned == nil || !strings.Contains(dockerfile, "FROM quay.io/operator-framework/opm:"+pinned[1]+"@sha256:") {
		t.Errorf("catalog.Dockerfile is not built on the opm that tools/opm pins, by its digest, %v", pinned)
	}
	for _, want := range []string{
		"LABEL operators.operatorframework.io.index.configs.v1=/configs\n", "COPY catalog/platformapp /configs/platformapp\n",
		"USER 1001\n", "CMD [\"serve\", \"/configs\"]\n",
	} {
		if !strings.Contains(dockerfile, want) {
			t.Errorf("catalog.Dockerfile lacks %q", want)
		}
	}
	version := readCSV(t).Spec.Version
	for _, file := range []string{"catalogsource.yaml", "clustercatalog.yaml"} {
		if want := "quay.io/evillgenius/platformapp-catalog:v" + version + "\n"; !strings.Contains(readFile(t, "/catalog/"+file), want) {
			t.Errorf("catalog/%s does not name %s", file, want)
		}
	}
	if !strings.Contains(readFile(t, "/catalog/catalogsource.yaml"), "securityContextConfig: restricted\n") {
		t.Error("the catalog's pod is not restricted")
	}
}
