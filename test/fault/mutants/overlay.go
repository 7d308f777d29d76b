// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Overlay writes the files that the mutant changes into a folder, and what go build -overlay
// takes to read them in place of those of the checkout. It returns the path of the latter.
func (m Mutant) Overlay(root, folder string) (string, error) {
	files, err := m.patched(func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(root, file)) })
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, content := range files {
		copied := filepath.Join(folder, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(copied, []byte(content), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = copied
	}
	serialized, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, serialized, 0o600)
}
