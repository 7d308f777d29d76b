// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// hubTemplate is the file of a hub that holds the upgrade graph there.
const hubTemplate = "basic.yaml"

// releaseConfig asks a hub to offer a version once its bundle is merged
// (https://github.com/redhat-openshift-ecosystem/operator-pipelines, docs/users/fbc_autorelease.md).
type releaseConfig struct {
	CatalogTemplates []catalogTemplate `json:"catalog_templates"`
}

type catalogTemplate struct {
	TemplateName   string   `json:"template_name"`
	Channels       []string `json:"channels"`
	DefaultChannel string   `json:"defaultChannel"`
	Replaces       string   `json:"replaces,omitempty"`
	Skips          []string `json:"skips,omitempty"`
	SkipRange      string   `json:"skipRange,omitempty"`
}

// layOut writes, for each hub that has a folder in settings, what is to be copied into a
// clone of it.
func layOut(b bundle, settings, out string) error {
	hubs, err := os.ReadDir(settings)
	if err != nil {
		return err
	}
	for _, hub := range hubs {
		if err := layOutHub(b, filepath.Join(settings, hub.Name()), filepath.Join(out, hub.Name(), "operators", b.packageName)); err != nil {
			return fmt.Errorf("%s: %w", hub.Name(), err)
		}
	}
	return nil
}

func layOutHub(b bundle, settings, out string) error {
	if err := replace(settings, out); err != nil {
		return err
	}
	for _, part := range []string{"manifests", "metadata", "tests"} {
		if err := replace(filepath.Join(b.folder, part), filepath.Join(out, b.version, part)); err != nil {
			return err
		}
	}
	config := releaseConfig{CatalogTemplates: []catalogTemplate{{
		TemplateName: hubTemplate, Channels: b.channels, DefaultChannel: b.defaultChannel,
		Replaces: b.entry.Replaces, Skips: b.entry.Skips, SkipRange: b.entry.SkipRange,
	}}}
	content, err := yaml.Marshal(config)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(out, b.version, "release-config.yaml"), content); err != nil {
		return err
	}
	return beginTemplate(b, out)
}

// beginTemplate writes the template of a hub that has none yet, where the pipeline would
// make one without icon and description, and the catalogs have them from nowhere else.
func beginTemplate(b bundle, out string) error {
	var ci struct {
		FBC struct {
			CatalogMapping []struct {
				CatalogNames []string `json:"catalog_names"`
			} `json:"catalog_mapping"`
		}
	}
	if err := readYAML(filepath.Join(out, "ci.yaml"), &ci); err != nil {
		return err
	}
	openShift := false
	for _, mapping := range ci.FBC.CatalogMapping {
		for _, name := range mapping.CatalogNames {
			openShift = openShift || strings.HasPrefix(name, "v4.")
		}
	}
	if b.entry.Replaces != "" || !openShift {
		return nil
	}
	t := template{Schema: templateSchema}
	t.describe(b)
	content, err := yaml.Marshal(t)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(out, "catalog-templates", hubTemplate), content)
}

// replace makes a folder a copy of another.
func replace(from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}
