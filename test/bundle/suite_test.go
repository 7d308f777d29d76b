// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const (
	root      = "../.."
	bundleDir = root + "/bundle"
)

// manifest is an object of the bundle with the name of its file.
type manifest struct {
	file string
	object
}

// object is what every object of Kubernetes has.
type object struct {
	APIVersion string
	Kind       string
	Metadata   struct{ Name, Namespace string }
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func readCSV(t *testing.T, bundle string) *operatorsv1alpha1.ClusterServiceVersion {
	t.Helper()
	csv := &operatorsv1alpha1.ClusterServiceVersion{}
	if err := yaml.UnmarshalStrict([]byte(readFile(t, filepath.Join(bundle, csvFile))), csv); err != nil {
		t.Fatal(err)
	}
	return csv
}

// manager returns the one container of a CSV.
func manager(t *testing.T, csv *operatorsv1alpha1.ClusterServiceVersion) corev1.Container {
	t.Helper()
	deployments := csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs
	if len(deployments) != 1 || len(deployments[0].Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("the CSV has %d Deployments, want one with one container", len(deployments))
	}
	return deployments[0].Spec.Template.Spec.Containers[0]
}

// readManifests returns what is in bundle/manifests.
func readManifests(t *testing.T) []manifest {
	t.Helper()
	var manifests []manifest
	for _, file := range listFiles(t, filepath.Join(bundleDir, "manifests")) {
		m := manifest{file: file}
		if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(bundleDir, "manifests", file))), &m.object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		manifests = append(manifests, m)
	}
	return manifests
}

// listFiles returns the files below a folder, in alphabetical order.
func listFiles(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s (%v)", dir, err)
	}
	return files
}

// variable returns the default of a variable of the Makefile.
func variable(t *testing.T, name string) string {
	t.Helper()
	match := regexp.MustCompile(`(?m)^` + name + ` \?=[ ]*(.*)$`).FindStringSubmatch(readFile(t, filepath.Join(root, "Makefile")))
	if match == nil {
		t.Fatalf("the Makefile has no variable %s", name)
	}
	return match[1]
}
