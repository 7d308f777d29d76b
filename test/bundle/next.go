// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package bundle tests the OLM bundle of the checkout, and makes that of the next version from it, for tests of upgrades.
package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The files of a bundle that hold its version, below its folder.
const (
	csvFile       = "manifests/platformapp.clusterserviceversion.yaml"
	scorecardFile = "tests/scorecard/config.yaml"
)

const (
	packageName = "platformapp"
	skipRange   = "olm.skipRange"
)

// WriteNext writes to a new folder the bundle of the version after the one in a folder, as a release that changes
// nothing but the version would have it: it replaces the former one, its skipRange ends before itself, and each image that
// has the version as its tag has the new one. It returns the new version, such as 0.1.1.
//
// It fails when from holds no bundle, or one whose images do not have the version as their tag, and when to is there.
func WriteNext(from, to string) (version string, err error) {
	var csv unstructured.Unstructured
	if err := readYAML(filepath.Join(from, csvFile), &csv.Object); err != nil {
		return "", err
	}
	old, _, err := unstructured.NestedString(csv.Object, "spec", "version")
	if err != nil {
		return "", err
	}
	if version, err = nextVersion(old); err != nil {
		return "", fmt.Errorf("spec.version of %s: %w", csv.GetName(), err)
	}
	var scorecard map[string]any
	if err := readYAML(filepath.Join(from, scorecardFile), &scorecard); err != nil {
		return "", err
	}
	for of, object := range map[string]map[string]any{csvFile: csv.Object, scorecardFile: scorecard} {
		if retag(object, ":v"+old, ":v"+version) == 0 {
			return "", fmt.Errorf("%s names no image with the tag v%s", of, old)
		}
	}
	annotations := csv.GetAnnotations()
	annotations[skipRange] = strings.ReplaceAll(annotations[skipRange], "<"+old, "<"+version)
	csv.SetAnnotations(annotations)
	for field, value := range map[string]string{"version": version, "replaces": csv.GetName()} {
		if err := unstructured.SetNestedField(csv.Object, value, "spec", field); err != nil {
			return "", err
		}
	}
	csv.SetName(packageName + ".v" + version)

	if _, err := os.Stat(to); err == nil {
		return "", fmt.Errorf("%s is there already", to)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return "", err
	}
	if err := writeYAML(filepath.Join(to, csvFile), csv.Object); err != nil {
		return "", err
	}
	return version, writeYAML(filepath.Join(to, scorecardFile), scorecard)
}

// nextVersion returns the patch version after a release such as 0.1.0, and of a candidate such as 0.1.0-rc.1 the version
// that it is one of.
func nextVersion(version string) (string, error) {
	if release, _, candidate := strings.Cut(version, "-"); candidate {
		return release, nil
	}
	at := strings.LastIndex(version, ".")
	patch, err := strconv.ParseUint(version[at+1:], 10, 32)
	if err != nil || strings.Count(version, ".") != 2 {
		return "", fmt.Errorf("%q is no version such as 0.1.0", version)
	}
	return version[:at+1] + strconv.FormatUint(patch+1, 10), nil
}

// retag replaces the end of each string in a value that has it, and returns how many there are.
func retag(value any, old, tag string) int {
	n := 0
	each := func(field any, set func(any)) {
		if text, ok := field.(string); ok && strings.HasSuffix(text, old) {
			set(strings.TrimSuffix(text, old) + tag)
			n++
		}
		n += retag(field, old, tag)
	}
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			each(field, func(changed any) { v[key] = changed })
		}
	case []any:
		for i, item := range v {
			each(item, func(changed any) { v[i] = changed })
		}
	}
	return n
}

func readYAML(path string, into any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeYAML(path string, object any) error {
	content, err := yaml.Marshal(object)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, content, 0o644)
}
