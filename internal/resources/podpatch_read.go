// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"platformapp/internal/workload"
)

// patch is a pod template patch that was read.
type patch struct {
	// document is the patch as JSON, with a null for each field that is to be left out.
	document map[string]any
	// template is what document says, without its nulls.
	template corev1.PodTemplateSpec
}

// readPatch reads the workload's patch as strictly as the API server reads a pod. In what it
// returns the application's container has its real name.
func readPatch(w workload.Workload) (patch, field.ErrorList) {
	var value any
	if err := utiljson.Unmarshal(w.PodTemplatePatch, &value); err != nil {
		return patch{}, field.ErrorList{field.Invalid(patchPath, field.OmitValueType{}, "must be JSON: "+err.Error())}
	}
	document, ok := value.(map[string]any)
	if !ok {
		return patch{}, field.ErrorList{field.Invalid(patchPath, field.OmitValueType{}, "must be an object with metadata and spec, as of a pod template")}
	}
	if errs := checkMarkers(patchPath, document); len(errs) > 0 {
		return patch{}, errs
	}
	p := patch{document: document}
	strict, err := kjson.UnmarshalStrict(w.PodTemplatePatch, &p.template)
	if err != nil {
		return patch{}, field.ErrorList{unreadable(patchPath, document, readTemplate)}
	}
	if errs := strictErrors(strict); len(errs) > 0 {
		return patch{}, errs
	}
	if errs := p.nameMain(w.Container.Name); len(errs) > 0 {
		return patch{}, errs
	}
	return p, p.markRemoved(w.Container.Name)
}

// nameMain gives the application's container its real name. One patch cannot address it by
// both.
func (p *patch) nameMain(name string) field.ErrorList {
	if name == workload.MainContainer {
		return nil
	}
	addressed := -1
	for i, container := range p.template.Spec.Containers {
		if container.Name != workload.MainContainer && container.Name != name {
			continue
		}
		if addressed >= 0 && container.Name != p.template.Spec.Containers[addressed].Name {
			return field.ErrorList{field.Invalid(patchPath.Child("spec", "containers").Index(i).Child("name"), container.Name,
				fmt.Sprintf("%s and %s are the same container, the application's: use one of the names", workload.MainContainer, name))}
		}
		addressed = i
	}
	for i, container := range itemsOf(objectAt(p.document, "spec")["containers"]) {
		if container["name"] == workload.MainContainer {
			container["name"] = name
			p.template.Spec.Containers[i].Name = name
		}
	}
	return nil
}

// readTemplate tells why a document is no pod template.
func readTemplate(document any) error {
	serialized, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(serialized, &corev1.PodTemplateSpec{})
}

// checkMarkers refuses directives, and nulls in lists, which mean nothing there.
func checkMarkers(path *field.Path, value any) field.ErrorList {
	var errs field.ErrorList
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if strings.HasPrefix(key, "$") {
				errs = append(errs, field.Forbidden(path.Child(key), "directives are not allowed; the annotation "+workload.AnnotationRemove+" of the patch leaves fields out"))
				continue
			}
			errs = append(errs, checkMarkers(path.Child(key), value[key])...)
		}
	case []any:
		for i, item := range value {
			if item == nil {
				errs = append(errs, field.Invalid(path.Index(i), field.OmitValueType{}, "must not be null"))
				continue
			}
			errs = append(errs, checkMarkers(path.Index(i), item)...)
		}
	}
	return errs
}

// strictErrors names the fields that pods do not have and those that stand twice.
func strictErrors(strict []error) field.ErrorList {
	var errs field.ErrorList
	for _, err := range strict {
		path := patchPath
		if at, ok := errors.AsType[kjson.FieldError](err); ok {
			path = path.Child(at.FieldPath())
		}
		if strings.HasPrefix(err.Error(), "duplicate") {
			errs = append(errs, field.Invalid(path, field.OmitValueType{}, "must stand only once"))
		} else {
			errs = append(errs, field.Forbidden(path, "is not a field of a pod template; mind upper and lower case"))
		}
	}
	return errs
}

// unreadable names the smallest part of a value that read refuses, and why. The errors of
// some types, such as quantities, do not tell where they arose.
func unreadable(path *field.Path, value any, read func(part any) error) *field.Error {
	switch value := value.(type) {
	case map[string]any:
		if read(map[string]any{}) != nil {
			break // it should be no object
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			readChild := func(part any) error { return read(map[string]any{key: part}) }
			if readChild(value[key]) != nil {
				return unreadable(path.Child(key), value[key], readChild)
			}
		}
	case []any:
		if read([]any{}) != nil {
			break // it should be no list
		}
		for i, item := range value {
			readItem := func(part any) error { return read([]any{part}) }
			if readItem(item) != nil {
				return unreadable(path.Index(i), item, readItem)
			}
		}
	}
	err := read(value)
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return field.TypeInvalid(path, field.OmitValueType{}, fmt.Sprintf("must be %s, not %s", nameOfType(wrongType.Type), nameOfJSON(value)))
	}
	return field.Invalid(path, field.OmitValueType{}, fmt.Sprint(err))
}

// nameOfType says how a value of a Go type is written.
func nameOfType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int32, reflect.Int64:
		return fmt.Sprintf("an integer of %d bits", t.Bits())
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// nameOfJSON says what a JSON value is.
func nameOfJSON(value any) string {
	switch value := value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return fmt.Sprintf("the string %q", value)
	default:
		return fmt.Sprint(value)
	}
}
