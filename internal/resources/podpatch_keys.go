// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// keyedList is a list whose items the API server tells apart by some of their fields.
type keyedList struct {
	name string
	keys []string
}

// The lists of which an apply with two items of equal keys is refused, with the keys that
// have no default; see the list-map-key markers of the types.
var (
	keyedLists = []keyedList{
		{"containers", []string{"name"}},
		{"initContainers", []string{"name"}},
		{"volumes", []string{"name"}},
		{"imagePullSecrets", []string{"name"}},
		{"hostAliases", []string{"ip"}},
		{"schedulingGates", []string{"name"}},
		{"evictionResponders", []string{"name"}},
		{"topologySpreadConstraints", []string{"topologyKey", "whenUnsatisfiable"}},
	}
	keyedListsOfContainer = []keyedList{
		{"env", []string{"name"}},
		{"volumeMounts", []string{"mountPath"}},
		{"volumeDevices", []string{"devicePath"}},
		{"ports", []string{"containerPort", "protocol"}},
	}
)

// checkKeys refuses items without a key, two items of equal keys, and names of containers
// and volumes that are no names.
func (p *patch) checkKeys(path *field.Path) field.ErrorList {
	spec := objectAt(p.document, "spec")
	var errs field.ErrorList
	for _, list := range keyedLists {
		errs = append(errs, list.check(path, spec)...)
	}
	for _, name := range []string{"containers", "initContainers", "volumes"} {
		for i, item := range itemsOf(spec[name]) {
			at := path.Child(name).Index(i)
			if text, ok := item["name"].(string); ok && text != "" {
				for _, problem := range validation.IsDNS1123Label(text) {
					errs = append(errs, field.Invalid(at.Child("name"), text, problem))
				}
			}
			if name == "volumes" {
				continue
			}
			for _, list := range keyedListsOfContainer {
				errs = append(errs, list.check(at, item)...)
			}
		}
	}
	return errs
}

// check returns an error for each item of the list that lacks a key or repeats another's.
func (l keyedList) check(path *field.Path, in map[string]any) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, item := range itemsOf(in[l.name]) {
		at := path.Child(l.name).Index(i)
		var values []string
		for _, key := range l.keys {
			value := item[key]
			if key == "protocol" {
				value = protocolOf(item)
			}
			if value == nil || value == "" {
				errs = append(errs, field.Required(at.Child(key), ""))
			}
			values = append(values, fmt.Sprint(value))
		}
		id := strings.Join(values, "/")
		if seen[id] && !slices.Contains(values, "") {
			errs = append(errs, field.Duplicate(at, id))
		}
		seen[id] = true
	}
	return errs
}
