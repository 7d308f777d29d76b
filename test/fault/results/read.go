// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Read returns the results that all processes left in a folder. It fails on a folder without any, and on a line that is not
// a result, such as one that a process did not get to finish.
func Read(folder string) ([]Result, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*"+suffix))
	if err != nil {
		return nil, err
	}
	var all []Result
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(content) {
			var r Result
			if err := json.Unmarshal(line, &r); err != nil {
				return nil, fmt.Errorf("%s: %q is not a result: %w", file, line, err)
			}
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no results in %s", folder)
	}
	return all, nil
}
