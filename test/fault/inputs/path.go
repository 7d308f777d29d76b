// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Path leads to a value in a JSON document: names of fields and keys as strings, places in lists as ints.
type Path []any

// String spells a path as the API server does, with a key of a map as if it were a field: spec.env[0].name.
func (p Path) String() string {
	out := strings.Builder{}
	for _, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&out, "[%d]", step)
		case string:
			if out.Len() > 0 {
				out.WriteByte('.')
			}
			out.WriteString(step)
		}
	}
	return out.String()
}

// with returns the path that goes on by a step.
func (p Path) with(step any) Path { return append(slices.Clone(p), step) }

// parent returns the path of what holds the value, and the last step. The path must not be empty.
func (p Path) parent() (Path, any) { return p[:len(p)-1], p[len(p)-1] }

// rawMark stands in a document for text that is put in its place when that is written: so a plan can hold what no JSON value
// is, such as a key that is there twice.
const rawMark = "@@raw@@"

// written returns the document as JSON, with the raw text in place of the value at the path.
func written(document map[string]any, path Path, raw string) ([]byte, error) {
	marked, err := replaced(document, path, rawMark)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(marked)
	if err != nil {
		return nil, err
	}
	return []byte(strings.Replace(string(content), `"`+rawMark+`"`, raw, 1)), nil
}

// replaced returns a copy of the document with another value at the path. It fails when nothing leads there; the last step
// may be a field that is not there yet.
func replaced(document map[string]any, path Path, value any) (map[string]any, error) {
	changed, err := change(document, path, func(container, step any) (any, error) {
		switch container := container.(type) {
		case map[string]any:
			container[step.(string)] = value
		case []any:
			container[step.(int)] = value
		}
		return container, nil
	})
	if err != nil {
		return nil, fmt.Errorf("set %s: %w", path, err)
	}
	return changed.(map[string]any), nil
}

// removed returns a copy of the document without the field or item at the path.
func removed(document map[string]any, path Path) (map[string]any, error) {
	changed, err := change(document, path, func(container, step any) (any, error) {
		switch container := container.(type) {
		case map[string]any:
			delete(container, step.(string))
			return container, nil
		case []any:
			return slices.Delete(container, step.(int), step.(int)+1), nil
		}
		return container, nil
	})
	if err != nil {
		return nil, fmt.Errorf("remove %s: %w", path, err)
	}
	return changed.(map[string]any), nil
}

// change returns a copy of a value, of which the container that the path leads to is changed; containers along the path are
// copied.
func change(value any, path Path, edit func(container, step any) (any, error)) (any, error) {
	copied, err := copyOf(value, path[0])
	if err != nil {
		return nil, err
	}
	if len(path) == 1 {
		return edit(copied, path[0])
	}
	switch container := copied.(type) {
	case map[string]any:
		step := path[0].(string)
		container[step], err = change(container[step], path[1:], edit)
	case []any:
		step := path[0].(int)
		container[step], err = change(container[step], path[1:], edit)
	}
	return copied, err
}

// copyOf copies a container, one level deep, that has the step.
func copyOf(value, step any) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		if _, ok := step.(string); ok {
			return maps.Clone(value), nil
		}
	case []any:
		if i, ok := step.(int); ok && i < len(value) {
			return slices.Clone(value), nil
		}
	}
	return nil, fmt.Errorf("%T has no %v", value, step)
}
