// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	csvFile = "manifests/" + packageName + ".clusterserviceversion.yaml"
	// The Service of an installation without OLM; OLM makes its own for the webhook.
	webhookServiceFile = "manifests/" + packageName + "-webhook-service_v1_service.yaml"
	annotationsFile    = "metadata/annotations.yaml"

	// The versions of OpenShift, from this one on, that have the CSV's minKubeVersion.
	openShiftVersions = "com.redhat.openshift.versions"
	firstOpenShift    = "v4.17"

	disconnected = "features.operators.openshift.io/disconnected"
	createdAt    = "createdAt"
)

// complete adds to a generated bundle in a folder, and to its Dockerfile, what operator-sdk leaves out: the manager
// among the related images, each with its name; the versions of OpenShift; that images by digest can be mirrored. It takes
// away what belongs to objects in a cluster alone.
func complete(work string, byDigest bool) error {
	dir := filepath.Join(work, bundleDir)
	if err := os.Remove(filepath.Join(dir, webhookServiceFile)); err != nil {
		return err
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "manifests", "*.yaml"))
	if err != nil {
		return err
	}
	for _, path := range manifests {
		if err := edit(path, dropState); err != nil {
			return err
		}
	}
	err = edit(filepath.Join(dir, csvFile), func(csv map[string]any) error {
		images, err := relatedImages(csv)
		if err != nil {
			return err
		}
		if byDigest {
			if err := unstructured.SetNestedField(csv, "true", "metadata", "annotations", disconnected); err != nil {
				return err
			}
		}
		return unstructured.SetNestedSlice(csv, images, "spec", "relatedImages")
	})
	if err != nil {
		return err
	}
	return errors.Join(
		insert(filepath.Join(dir, annotationsFile), "", fmt.Sprintf("\n  # OpenShift annotations.\n  %s: %s\n", openShiftVersions, firstOpenShift)),
		insert(filepath.Join(work, bundleDir+".Dockerfile"), "# Copy files", fmt.Sprintf("# OpenShift labels.\nLABEL %s=%s\n\n", openShiftVersions, firstOpenShift)),
		prepend(filepath.Join(work, bundleDir+".Dockerfile"), header),
	)
}

// dropState takes away what the types of an object have for the API server to fill in.
func dropState(object map[string]any) error {
	unstructured.RemoveNestedField(object, "status")
	unstructured.RemoveNestedField(object, "metadata", "creationTimestamp")
	return nil
}

// relatedImages returns the images that the operator of a CSV is or may run by itself: that of the manager, and those in
// its variables RELATED_IMAGE_*, which are named after them.
func relatedImages(csv map[string]any) ([]any, error) {
	deployments, _, err := unstructured.NestedSlice(csv, "spec", "install", "spec", "deployments")
	if err != nil {
		return nil, err
	}
	var images []any
	for _, deployment := range deployments {
		containers, _, err := unstructured.NestedSlice(deployment.(map[string]any), "spec", "template", "spec", "containers")
		if err != nil {
			return nil, err
		}
		for _, container := range containers {
			of := container.(map[string]any)
			images = append(images, map[string]any{"name": of["name"], "image": of["image"]})
			variables, _, err := unstructured.NestedSlice(of, "env")
			if err != nil {
				return nil, err
			}
			for _, variable := range variables {
				of := variable.(map[string]any)
				if name, related := strings.CutPrefix(of["name"].(string), "RELATED_IMAGE_"); related {
					images = append(images, map[string]any{"name": strings.ReplaceAll(strings.ToLower(name), "_", "-"), "image": of["value"]})
				}
			}
		}
	}
	if len(images) == 0 {
		return nil, errors.New("the CSV has no container")
	}
	return images, nil
}

// date sets when the generated bundle in a folder was made: if nothing else differs from the former one, it is that one's
// time, so that making a bundle twice changes nothing.
func date(work, former string, now time.Time) error {
	dir := filepath.Join(work, bundleDir)
	stamp := func(at string) error {
		return edit(filepath.Join(dir, csvFile), func(csv map[string]any) error {
			return unstructured.SetNestedField(csv, at, "metadata", "annotations", createdAt)
		})
	}
	// One that nobody can read is as good as none.
	var csv unstructured.Unstructured
	if content, err := os.ReadFile(filepath.Join(former, csvFile)); err == nil && yaml.Unmarshal(content, &csv.Object) == nil {
		if err := stamp(csv.GetAnnotations()[createdAt]); err != nil {
			return err
		}
		same, err := equal(dir, former)
		if same || err != nil {
			return err
		}
	}
	return stamp(now.UTC().Format(time.RFC3339))
}

// equal says whether two folders have the same files.
func equal(a, b string) (bool, error) {
	files := [2]map[string]string{}
	for i, dir := range []string{a, b} {
		files[i] = map[string]string{}
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(filepath.Join(dir, path))
			files[i][path] = string(content)
			return err
		})
		if err != nil {
			return false, err
		}
	}
	if len(files[0]) != len(files[1]) {
		return false, nil
	}
	for path, content := range files[0] {
		if other, there := files[1][path]; !there || other != content {
			return false, nil
		}
	}
	return true, nil
}

// edit changes a YAML file.
func edit(path string, change func(object map[string]any) error) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(content, &object.Object); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := change(object.Object); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if content, err = yaml.Marshal(object.Object); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, content, 0o644)
}

// insert writes text into a file before the first place where another stands, or at its end.
func insert(path, before, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := len(content)
	if before != "" {
		if at = bytes.Index(content, []byte(before)); at < 0 {
			return fmt.Errorf("%s has no %q", path, before)
		}
	}
	return os.WriteFile(path, append(content[:at:at], append([]byte(text), content[at:]...)...), 0o644)
}
