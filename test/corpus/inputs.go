// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
)

// refusedPrefix begins the names of inputs that a schema may refuse: there is nothing to be
// stored then.
const refusedPrefix = "golden-error-"

// Input is an application as a person writes it, of which a version makes a Case.
type Input struct {
	// Name of the case.
	Name string `json:"-"`
	// Object is what is written.
	Object map[string]any `json:"object"`
	// Cluster is what it finds.
	Cluster Cluster `json:"cluster,omitzero"`
	// State is what the stored status tells; empty is Running.
	State State `json:"state,omitempty"`
}

// Inputs returns all inputs out of the checkout in the folder root, in alphabetical order:
// those that the renderer is tested with, the samples, every preset, and those of this
// package for what these leave out.
func Inputs(root string) ([]Input, error) {
	inputs := presets()
	for _, read := range []func(string) ([]Input, error){golden, samples, own} {
		more, err := read(root)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, more...)
	}
	slices.SortFunc(inputs, func(a, b Input) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(inputs); i++ {
		if inputs[i].Name == inputs[i-1].Name {
			return nil, fmt.Errorf("two inputs are called %s", inputs[i].Name)
		}
	}
	return inputs, nil
}

// own reads the inputs of this package.
func own(root string) ([]Input, error) {
	return readFiles(filepath.Join(root, "test", "corpus", "inputs", "*.yaml"), func(file string, raw []byte) ([]Input, error) {
		input := Input{Name: "own-" + strings.TrimSuffix(filepath.Base(file), ".yaml")}
		err := yaml.UnmarshalStrict(raw, &input)
		return []Input{input}, err
	})
}

// golden reads the inputs that the renderer is tested with.
func golden(root string) ([]Input, error) {
	return readFiles(filepath.Join(root, "internal", "resources", "testdata", "*", "input.yaml"), func(file string, raw []byte) ([]Input, error) {
		folder := filepath.Dir(file)
		input := Input{Name: "golden-" + filepath.Base(folder)}
		if err := yaml.Unmarshal(raw, &input.Object); err != nil {
			return nil, err
		}
		cluster, err := os.ReadFile(filepath.Join(folder, "observed.yaml"))
		if errors.Is(err, fs.ErrNotExist) {
			return []Input{input}, nil
		}
		if err != nil {
			return nil, err
		}
		err = yaml.UnmarshalStrict(cluster, &input.Cluster)
		return []Input{input}, err
	})
}

// samples reads the applications that users start from, with the ConfigMaps beside them.
func samples(root string) ([]Input, error) {
	var inputs []Input
	for _, folder := range []string{"samples", filepath.Join("samples", "scenarios")} {
		found, err := readFiles(filepath.Join(root, "config", folder, "*.yaml"), sample)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, found...)
	}
	return inputs, nil
}

func sample(file string, raw []byte) ([]Input, error) {
	input := Input{Name: "sample-" + strings.TrimSuffix(filepath.Base(file), ".yaml")}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), len(raw))
	for {
		object := map[string]any{}
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		switch object["kind"] {
		case "EGApp", "DemoMicroService":
			if input.Object != nil {
				return nil, errors.New("it holds more than one application")
			}
			input.Object = object
		case "ConfigMap":
			var configMap struct {
				Metadata struct{ Name string }
				Data     map[string]string
			}
			if err := convert(object, &configMap); err != nil {
				return nil, err
			}
			input.Cluster.ConfigMaps = map[string]map[string]string{configMap.Metadata.Name: configMap.Data}
		}
	}
	if input.Object == nil { // A kustomization.
		return nil, nil
	}
	return []Input{input}, nil
}

// presets returns an application for each combination of what has a preset.
func presets() []Input {
	var inputs []Input
	for _, framework := range v1alpha1.Frameworks() {
		for _, environment := range v1alpha1.Environments() {
			for _, instanceType := range v1alpha1.InstanceTypes() {
				name := fmt.Sprintf("preset-%s-%s-%s", framework, environment, strings.ToLower(string(instanceType)))
				object := map[string]any{
					"apiVersion": v1alpha1.GroupVersion.String(),
					"kind":       "EGApp",
					"metadata":   map[string]any{"name": "orders"},
					"spec":       map[string]any{"framework": string(framework), "environment": string(environment), "instanceType": string(instanceType)},
				}
				inputs = append(inputs, Input{Name: name, Object: object})
				if instanceType == v1alpha1.InstanceTypeBalanced {
					inputs = append(inputs, Input{Name: name + "-openshift", Object: object, Cluster: Cluster{OpenShift: true}})
				}
			}
		}
	}
	return inputs
}

// readFiles reads the files that a pattern names, of which there must be some.
func readFiles(pattern string, read func(file string, raw []byte) ([]Input, error)) ([]Input, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no %s", pattern)
	}
	var inputs []Input
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := read(file, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		inputs = append(inputs, found...)
	}
	return inputs, nil
}
