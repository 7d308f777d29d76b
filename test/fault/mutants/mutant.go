// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"fmt"
	"strings"
)

// Mutant is the operator with one bug.
type Mutant struct {
	// Name in lower case, with dashes.
	Name string
	// Bug says what goes wrong.
	Bug string
	// Source is where the bug is known from, or empty for one that is ours to think of: what a mechanism of this operator
	// is there to prevent.
	Source string
	// Changes make the bug.
	Changes []Change
	// Plans are names of plans of the fault suite of which one is to find it; they are tried in this order. The name of a
	// scenario of the campaign, as EGApp/update, is that scenario without any fault.
	Plans []string
	// Quick tells that the first plan finds it as soon as the scenario is played, not by waiting for what never comes.
	Quick bool
}

// Change is a text of a source file and what stands in its place.
type Change struct {
	// File from the root of the checkout.
	File string
	// Old occurs exactly once in the file, once the changes before this one are made.
	Old string
	// New takes its place.
	New string
}

// patched returns the contents of the files that the mutant changes, by their paths. read
// returns those of a file.
func (m Mutant) patched(read func(file string) ([]byte, error)) (map[string]string, error) {
	files := map[string]string{}
	for _, change := range m.Changes {
		content, ok := files[change.File]
		if !ok {
			original, err := read(change.File)
			if err != nil {
				return nil, fmt.Errorf("mutant %s: %w", m.Name, err)
			}
			content = string(original)
		}
		if n := strings.Count(content, change.Old); n != 1 {
			return nil, fmt.Errorf("mutant %s: its text occurs %d times, not once, in %s:\n%s", m.Name, n, change.File, change.Old)
		}
		files[change.File] = strings.Replace(content, change.Old, change.New, 1)
	}
	return files, nil
}
