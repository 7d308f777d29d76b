// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"strings"
)

// leftOut is the name of the state without the field.
const leftOut = "left out"

// seedItself is the name of the state of a seed as it is.
const seedItself = "the seed"

// nameMark stands in the text of an application for its name.
const nameMark = "@@name@@"

// State is a specification that an application may have, as it is written.
type State struct {
	// Name of the state among those of its field.
	Name string
	Kind Kind
	// Text is the application as JSON, but for its name.
	Text string
	// Field is where it differs from its seed, if it does.
	Field Field
	// Value is the text of what stands in the field, as JSON; empty if it is left out.
	Value string
	// Refused tells that the API server must refuse it.
	Refused bool
	// pods is equal for states of which it is known that their pods are: the way from one to the other restarts none.
	pods string
}

// named returns the application with a name, as JSON.
func (s State) named(name string) []byte { return []byte(strings.Replace(s.Text, nameMark, name, 1)) }

// edit returns the JSON patch that makes an application what the state says, but for its name. The state must be JSON.
func (s State) edit() ([]byte, error) {
	var application struct {
		Metadata struct {
			Labels json.RawMessage `json:"labels"`
		} `json:"metadata"`
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal([]byte(s.Text), &application); err != nil {
		return nil, err
	}
	labels := application.Metadata.Labels
	if len(labels) == 0 || string(labels) == "null" {
		labels = json.RawMessage("{}")
	}
	return json.Marshal([]map[string]any{
		{"op": "add", "path": "/metadata/labels", "value": labels},
		{"op": "replace", "path": "/spec", "value": application.Spec},
	})
}

// state is the seed with the raw value in the place of a field.
func (s Seed) state(name string, f Field, raw string, refused bool) (State, error) {
	object, err := s.marked()
	if err != nil {
		return State{}, err
	}
	content, err := written(object, f.Path, raw)
	return State{Name: name, Kind: s.Kind, Text: string(content), Field: f, Value: raw, Refused: refused}, err
}

// marked returns the seed with the mark for its name.
func (s Seed) marked() (map[string]any, error) {
	object := s.Object
	if _, ok := object["metadata"]; !ok {
		var err error
		if object, err = replaced(object, Path{"metadata"}, map[string]any{}); err != nil {
			return nil, err
		}
	}
	return replaced(object, Path{"metadata", "name"}, nameMark)
}

// asItIs is the state of the seed itself.
func (s Seed) asItIs() (State, error) {
	object, err := s.marked()
	return State{Name: seedItself, Kind: s.Kind, Text: text(object)}, err
}

// without is the state of the seed with a field left out.
func (s Seed) without(f Field) (State, error) {
	object, err := s.marked()
	if err != nil {
		return State{}, err
	}
	if object, err = removed(object, f.Path); err != nil {
		return State{}, err
	}
	_, isField := f.Path[len(f.Path)-1].(string)
	return State{Name: leftOut, Kind: s.Kind, Text: text(object), Field: f, Refused: f.Required && isField}, nil
}

// states returns what the seed may become by one field: as it is, with the field left out, and with each of its values.
func (s Seed) states(f Field) ([]State, error) {
	first, err := s.asItIs()
	if err != nil {
		return nil, err
	}
	first.Field = f
	states := []State{first}
	if !f.absent {
		without, err := s.without(f)
		if err != nil {
			return nil, err
		}
		states = append(states, without)
	}
	for _, v := range f.values() {
		state, err := s.state(v.Name, f, v.JSON, v.Refused)
		if err != nil {
			return nil, err
		}
		states = append(states, state)
	}
	return states, nil
}
