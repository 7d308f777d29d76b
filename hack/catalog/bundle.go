// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// The annotations of a bundle that a catalog needs.
const (
	packageAnnotation        = "operators.operatorframework.io.bundle.package.v1"
	channelsAnnotation       = "operators.operatorframework.io.bundle.channels.v1"
	defaultChannelAnnotation = "operators.operatorframework.io.bundle.channel.default.v1"
	skipRangeAnnotation      = "olm.skipRange"
)

// bundle is what a catalog says of a version.
type bundle struct {
	// folder holds the bundle.
	folder string
	// packageName is the operator's, channels are where the version is offered.
	packageName    string
	channels       []string
	defaultChannel string
	// version without the v.
	version string
	// entry is the version's place in the upgrade graph.
	entry entry
	// summary and icon are what the operator is shown by.
	summary string
	icon    icon
}

// entry is a version in a channel, in the words of olm.channel.
type entry struct {
	Name      string   `json:"name"`
	Replaces  string   `json:"replaces,omitempty"`
	Skips     []string `json:"skips,omitempty"`
	SkipRange string   `json:"skipRange,omitempty"`
}

type icon struct {
	Data      string `json:"base64data"`
	MediaType string `json:"mediatype"`
}

// clusterServiceVersion is what of one is read here.
type clusterServiceVersion struct {
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Spec struct {
		Version  string
		Replaces string
		Skips    []string
		Icon     []icon
	}
}

// readBundle reads a bundle's annotations and its ClusterServiceVersion.
func readBundle(folder string) (bundle, error) {
	var metadata struct{ Annotations map[string]string }
	if err := readYAML(filepath.Join(folder, "metadata", "annotations.yaml"), &metadata); err != nil {
		return bundle{}, err
	}
	b := bundle{
		folder:         folder,
		packageName:    metadata.Annotations[packageAnnotation],
		channels:       strings.Split(metadata.Annotations[channelsAnnotation], ","),
		defaultChannel: metadata.Annotations[defaultChannelAnnotation],
	}
	if b.packageName == "" || b.channels[0] == "" {
		return bundle{}, fmt.Errorf("%s: annotations.yaml lacks %s or %s", folder, packageAnnotation, channelsAnnotation)
	}
	if b.defaultChannel == "" {
		b.defaultChannel = b.channels[0]
	}
	files, err := filepath.Glob(filepath.Join(folder, "manifests", "*.clusterserviceversion.yaml"))
	if err != nil {
		return bundle{}, err
	}
	if len(files) != 1 {
		return bundle{}, fmt.Errorf("%s: manifests/ has %d files *.clusterserviceversion.yaml, want 1", folder, len(files))
	}
	var csv clusterServiceVersion
	if err := readYAML(files[0], &csv); err != nil {
		return bundle{}, err
	}
	if len(csv.Spec.Icon) != 1 {
		return bundle{}, errors.New(files[0] + ": want one icon")
	}
	b.version, b.icon, b.summary = csv.Spec.Version, csv.Spec.Icon[0], csv.Metadata.Annotations["description"]
	b.entry = entry{
		Name: csv.Metadata.Name, Replaces: csv.Spec.Replaces, Skips: csv.Spec.Skips,
		SkipRange: csv.Metadata.Annotations[skipRangeAnnotation],
	}
	return b, nil
}

func readYAML(file string, into any) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
