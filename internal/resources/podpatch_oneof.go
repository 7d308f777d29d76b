// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oneOf is an object, at a path of fields below a container, that can have only one of some
// fields.
type oneOf struct {
	path   []string
	fields []string
}

var (
	probeHandlers     = []string{"exec", "grpc", "httpGet", "tcpSocket"}
	lifecycleHandlers = []string{"exec", "httpGet", "sleep", "tcpSocket"}
	valueSources      = []string{"value", "valueFrom"}

	oneOfsOfContainer = []oneOf{
		{[]string{"startupProbe"}, probeHandlers},
		{[]string{"readinessProbe"}, probeHandlers},
		{[]string{"livenessProbe"}, probeHandlers},
		{[]string{"lifecycle", "postStart"}, lifecycleHandlers},
		{[]string{"lifecycle", "preStop"}, lifecycleHandlers},
	}
)

// checkOneOfs refuses objects that are to be two things at once.
func (p *patch) checkOneOfs(path *field.Path) field.ErrorList {
	spec := objectAt(p.document, "spec")
	var errs field.ErrorList
	check := func(at *field.Path, object map[string]any, names []string) {
		if given := givenOf(object, names); len(given) > 1 {
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("only one of %s can be given", strings.Join(given, " and "))))
		}
	}
	for _, list := range []string{"initContainers", "containers"} {
		for i, container := range itemsOf(spec[list]) {
			at := path.Child(list).Index(i)
			for _, o := range oneOfsOfContainer {
				check(at.Child(o.path[0], o.path[1:]...), objectAt(container, o.path...), o.fields)
			}
			for j, variable := range itemsOf(container["env"]) {
				check(at.Child("env").Index(j), variable, valueSources)
				from := objectAt(variable, "valueFrom")
				check(at.Child("env").Index(j).Child("valueFrom"), from, slices.Collect(maps.Keys(from)))
			}
		}
	}
	for i, volume := range itemsOf(spec["volumes"]) {
		check(path.Child("volumes").Index(i), volume, sourcesOf(volume))
	}
	return errs
}

// replaceOneOfs takes away from the generated container and volumes what the patch replaces
// by another thing: merged they would be two things at once.
func replaceOneOfs(generated, patched, generatedContainer, patchedContainer map[string]any) {
	for _, o := range oneOfsOfContainer {
		replaceOneOf(objectAt(generatedContainer, o.path...), objectAt(patchedContainer, o.path...), o.fields)
	}
	for _, variable := range itemsOf(patchedContainer["env"]) {
		if ours := itemNamed(generatedContainer["env"], variable["name"]); ours != nil {
			replaceOneOf(ours, variable, valueSources)
			if variable["valueFrom"] != nil {
				delete(ours, "valueFrom")
			}
		}
	}
	for _, volume := range itemsOf(patched["volumes"]) {
		if ours := itemNamed(generated["volumes"], volume["name"]); ours != nil {
			replaceOneOf(ours, volume, slices.Concat(sourcesOf(ours), sourcesOf(volume)))
		}
	}
}

func replaceOneOf(generated, patched map[string]any, names []string) {
	given := givenOf(patched, names)
	if len(given) == 0 {
		return
	}
	for _, name := range names {
		if !slices.Contains(given, name) {
			delete(generated, name)
		}
	}
}

// givenOf returns those of the fields that an object has, in alphabetical order.
func givenOf(object map[string]any, names []string) []string {
	var given []string
	for _, name := range names {
		if value := object[name]; value != nil && value != "" {
			given = append(given, name)
		}
	}
	slices.Sort(given)
	return slices.Compact(given)
}

// sourcesOf returns the fields of a volume but its name.
func sourcesOf(volume map[string]any) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(volume)), func(name string) bool { return name == "name" })
}

// itemNamed returns the item of a list that has the name, or nil.
func itemNamed(list any, name any) map[string]any {
	for _, item := range itemsOf(list) {
		if item["name"] == name {
			return item
		}
	}
	return nil
}
