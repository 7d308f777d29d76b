// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// componentRecipe is how kwokctl starts a component, as its record of the cluster has it.
type componentRecipe struct {
	Name    string   `json:"name"`
	Binary  string   `json:"binary"`
	Args    []string `json:"args"`
	WorkDir string   `json:"workDir"`
	Envs    []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"envs"`
}

// recipe reads how a component is started.
func (c *Cluster) recipe(name string) (componentRecipe, error) {
	path := filepath.Join(c.clusterDir(), "kwok.yaml")
	record, err := os.ReadFile(path)
	if err != nil {
		return componentRecipe{}, err
	}
	for document := range bytes.SplitSeq(record, []byte("\n---\n")) {
		var configuration struct {
			Components []componentRecipe `json:"components"`
		}
		if err := yaml.Unmarshal(document, &configuration); err != nil {
			return componentRecipe{}, fmt.Errorf("read %s: %w", path, err)
		}
		for _, recipe := range configuration.Components {
			if recipe.Name == name {
				return recipe, nil
			}
		}
	}
	return componentRecipe{}, fmt.Errorf("%s does not tell how %q is started", path, name)
}
