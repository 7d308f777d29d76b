// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// diffOfJSON returns the leaves that differ between two JSON documents, each with its path; texts that are no JSON are
// compared as a whole.
func diffOfJSON(want, got string) string {
	var a, b any
	if json.Unmarshal([]byte(want), &a) != nil || json.Unmarshal([]byte(got), &b) != nil {
		return fmt.Sprintf("  -%s\n  +%s\n", want, got)
	}
	left, right := map[string]string{}, map[string]string{}
	leaves("", a, left)
	leaves("", b, right)
	paths := maps.Clone(left)
	maps.Copy(paths, right)
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		expected, isExpected := left[path]
		actual, isThere := right[path]
		if expected == actual && isExpected == isThere {
			continue
		}
		if isExpected {
			fmt.Fprintf(&text, "  -%s: %s\n", path, expected)
		}
		if isThere {
			fmt.Fprintf(&text, "  +%s: %s\n", path, actual)
		}
	}
	return text.String()
}

// leaves collects what a JSON value holds, by path.
func leaves(path string, value any, into map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			into[path] = "{}"
		}
		for key, v := range value {
			leaves(path+"."+key, v, into)
		}
	case []any:
		if len(value) == 0 {
			into[path] = "[]"
		}
		for i, v := range value {
			leaves(fmt.Sprintf("%s[%d]", path, i), v, into)
		}
	default:
		into[path] = fmt.Sprint(value)
	}
}
