// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// annotations returns what bundle/metadata says of the bundle.
func annotations(t *testing.T) map[string]string {
	t.Helper()
	var metadata struct{ Annotations map[string]string }
	if err := yaml.UnmarshalStrict([]byte(readFile(t, filepath.Join(bundleDir, "metadata/annotations.yaml"))), &metadata); err != nil {
		t.Fatal(err)
	}
	return metadata.Annotations
}

func TestAnnotationsOfTheBundle(t *testing.T) {
	want := map[string]string{
		"com.redhat.openshift.versions":                            "v4.17",
		"operators.operatorframework.io.bundle.mediatype.v1":       "registry+v1",
		"operators.operatorframework.io.bundle.manifests.v1":       "manifests/",
		"operators.operatorframework.io.bundle.metadata.v1":        "metadata/",
		"operators.operatorframework.io.bundle.package.v1":         packageName,
		"operators.operatorframework.io.bundle.channels.v1":        "stable",
		"operators.operatorframework.io.bundle.channel.default.v1": "stable",
		"operators.operatorframework.io.metrics.builder":           "operator-sdk-" + variable(t, "OPERATOR_SDK_VERSION"),
		"operators.operatorframework.io.metrics.mediatype.v1":      "metrics+v1",
		"operators.operatorframework.io.metrics.project_layout":    "go.kubebuilder.io/v4",
		"operators.operatorframework.io.test.mediatype.v1":         "scorecard+v1",
		"operators.operatorframework.io.test.config.v1":            "tests/scorecard/",
	}
	if diff := cmp.Diff(want, annotations(t)); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// A catalog reads the labels of the image, OLM the annotations in it.
func TestLabelsOfTheImageAreTheAnnotations(t *testing.T) {
	labels := map[string]string{}
	var rest []string
	for line := range strings.Lines(readFile(t, root+"/bundle.Dockerfile")) {
		line = strings.TrimSpace(line)
		if label, found := strings.CutPrefix(line, "LABEL "); found {
			key, value, _ := strings.Cut(label, "=")
			labels[key] = value
		} else if line != "" && !strings.HasPrefix(line, "#") {
			rest = append(rest, line)
		}
	}
	if diff := cmp.Diff(annotations(t), labels); diff != "" {
		t.Errorf("-annotations +labels:\n%s", diff)
	}
	want := []string{
		"FROM scratch",
		"COPY bundle/manifests /manifests/",
		"COPY bundle/metadata /metadata/",
		"COPY bundle/tests/scorecard /tests/scorecard/",
	}
	if diff := cmp.Diff(want, rest); diff != "" {
		t.Errorf("the other instructions (-want +got):\n%s", diff)
	}
}

func TestFilesOfTheBundle(t *testing.T) {
	want := []string{
		"manifests/devops.my.domain_demomicroservices.yaml",
		"manifests/egplatform.platform.evillgenius.com_egapps.yaml",
		"manifests/platformapp-controller-manager-metrics-service_v1_service.yaml",
		"manifests/platformapp-demomicroservice-admin-role_rbac.authorization.k8s.io_v1_clusterrole.yaml",
		"manifests/platformapp-demomicroservice-editor-role_rbac.authorization.k8s.io_v1_clusterrole.yaml",
		"manifests/platformapp-demomicroservice-viewer-role_rbac.authorization.k8s.io_v1_clusterrole.yaml",
		"manifests/platformapp-egapp-admin-role_rbac.authorization.k8s.io_v1_clusterrole.yaml",
		"manifests/platformapp-egapp-editor-role_rbac.authorization.k8s.io_v1_clusterrole.yaml",
		"manifests/platformapp-egapp-viewer-role_rbac.authorization.k8s.io_v1_clusterrole.yaml",
		"manifests/platformapp-metrics-reader_rbac.authorization.k8s.io_v1_clusterrole.yaml",
		"manifests/platformapp.clusterserviceversion.yaml",
		"metadata/annotations.yaml",
		"tests/scorecard/config.yaml",
	}
	if diff := cmp.Diff(want, listFiles(t, bundleDir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// OLM takes these kinds and others, but a cluster may lack the API of those, and a NetworkPolicy would close what the
// catalog's reviewers do not want closed.
func TestManifestsHaveKindsThatEveryClusterHas(t *testing.T) {
	kinds := []string{"ClusterServiceVersion", "CustomResourceDefinition", "ClusterRole", "Service"}
	for _, m := range readManifests(t) {
		if !slices.Contains(kinds, m.Kind) {
			t.Errorf("%s is a %s, want one of %v", m.file, m.Kind, kinds)
		}
		// Where it is installed decides the namespace.
		if m.Metadata.Namespace != "" {
			t.Errorf("%s has the namespace %s", m.file, m.Metadata.Namespace)
		}
	}
}

// Only the first document of a file is read.
func TestEachFileIsOneDocument(t *testing.T) {
	for _, m := range readManifests(t) {
		content := strings.TrimPrefix(readFile(t, filepath.Join(bundleDir, "manifests", m.file)), "---\n")
		if strings.Contains(content, "\n---") {
			t.Errorf("%s has several documents", m.file)
		}
	}
}

// OLM unpacks a bundle into a ConfigMap, compressed, which cannot be larger than 1 MiB. operator-sdk run bundle and the
// scorecard put the whole of it into one as well.
func TestBundleIsSmall(t *testing.T) {
	const most = 700 << 10
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	for _, file := range listFiles(t, bundleDir) {
		if _, err := writer.Write([]byte(readFile(t, filepath.Join(bundleDir, file)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	// In a ConfigMap it is base64, four characters for three bytes.
	if size := compressed.Len() * 4 / 3; size > most {
		t.Errorf("the bundle has %d bytes compressed, want at most %d", size, most)
	}
	size := 0
	for key, value := range readCSV(t, bundleDir).Annotations {
		size += len(key) + len(value)
	}
	if size > 256<<10 {
		t.Errorf("the annotations of the CSV have %d bytes; no object may have more than 256 KiB", size)
	}
}
