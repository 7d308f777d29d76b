// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files returns the paths of the files below a folder, in alphabetical order.
func files(t *testing.T, folder string) []string {
	t.Helper()
	var paths []string
	if err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return paths
}

// A hub takes a folder of the operator with one of each version in it, whose name is the
// version's, and asks for nothing else.
func TestLayoutIsThatOfTheHubs(t *testing.T) {
	out := t.TempDir()
	if err := layOut(mustRead(t, thisBundle), root+"/operatorhub", out); err != nil {
		t.Fatal(err)
	}
	version := mustRead(t, thisBundle).version
	for hub, more := range map[string][]string{"community-operators": nil, "community-operators-prod": {"catalog-templates/basic.yaml"}} {
		t.Run(hub, func(t *testing.T) {
			operator := filepath.Join(out, hub, "operators", "platformapp")
			want := append([]string{"ci.yaml", version + "/release-config.yaml"}, more...)
			for _, file := range files(t, thisBundle) {
				want = append(want, version+"/"+file)
				if diff := cmp.Diff(read(t, filepath.Join(thisBundle, file)), read(t, filepath.Join(operator, version, file))); diff != "" {
					t.Errorf("%s is not the bundle's:\n%s", file, diff)
				}
			}
			slices.Sort(want)
			got := files(t, operator)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// The hub is asked for the same place in the graph as the catalog has, in channels that it
// makes of a template that ci.yaml maps.
func TestReleaseConfigIsThatOfTheGraph(t *testing.T) {
	out := t.TempDir()
	next := mustRead(t, nextBundle(t))
	if err := layOut(next, root+"/operatorhub", out); err != nil {
		t.Fatal(err)
	}
	for _, hub := range []string{"community-operators", "community-operators-prod"} {
		operator := filepath.Join(out, hub, "operators", "platformapp")
		var config releaseConfig
		if err := readYAML(filepath.Join(operator, next.version, "release-config.yaml"), &config); err != nil {
			t.Fatal(err)
		}
		want := releaseConfig{CatalogTemplates: []catalogTemplate{{
			TemplateName: "basic.yaml", Channels: []string{"stable"}, DefaultChannel: "stable",
			Replaces: mustRead(t, thisBundle).entry.Name, SkipRange: next.entry.SkipRange,
		}}}
		if diff := cmp.Diff(want, config); diff != "" {
			t.Errorf("%s: release-config.yaml (-want +got):\n%s", hub, diff)
		}
		var ci struct {
			UpdateGraph string
			Reviewers   []string
			FBC         struct {
				Enabled        bool
				CatalogMapping []struct {
					TemplateName string   `json:"template_name"`
					CatalogNames []string `json:"catalog_names"`
					Type         string
				} `json:"catalog_mapping"`
			}
		}
		if err := readYAML(filepath.Join(operator, "ci.yaml"), &ci); err != nil {
			t.Fatal(err)
		}
		if ci.UpdateGraph != "replaces-mode" || len(ci.Reviewers) == 0 || !ci.FBC.Enabled || len(ci.FBC.CatalogMapping) != 1 {
			t.Fatalf("%s: ci.yaml has %+v", hub, ci)
		}
		mapping := ci.FBC.CatalogMapping[0]
		if mapping.TemplateName != hubTemplate || mapping.Type != templateSchema || len(mapping.CatalogNames) == 0 {
			t.Errorf("%s: ci.yaml maps %+v", hub, mapping)
		}
		// The hub's own template has grown since the first version: it must not be overwritten.
		if _, err := os.Stat(filepath.Join(operator, "catalog-templates")); err == nil {
			t.Errorf("%s: a later version brings a template", hub)
		}
	}
}

// Catalogs of OpenShift begin with the one that the bundle allows.
func TestHubOffersNoOlderOpenShift(t *testing.T) {
	var annotations struct{ Annotations map[string]string }
	if err := readYAML(thisBundle+"/metadata/annotations.yaml", &annotations); err != nil {
		t.Fatal(err)
	}
	var ci struct {
		FBC struct {
			CatalogMapping []struct {
				CatalogNames []string `json:"catalog_names"`
			} `json:"catalog_mapping"`
		}
	}
	if err := readYAML(root+"/operatorhub/community-operators-prod/ci.yaml", &ci); err != nil {
		t.Fatal(err)
	}
	first := annotations.Annotations["com.redhat.openshift.versions"]
	if names := ci.FBC.CatalogMapping[0].CatalogNames; first == "" || names[0] != first || !slices.IsSorted(names) {
		t.Errorf("the catalogs are %v, the bundle is for %s and later", names, first)
	}
}

func mustRead(t *testing.T, folder string) bundle {
	t.Helper()
	b, err := readBundle(folder)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
