// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"platformapp/internal/workload"
)

// removable is the path of a field of the pods or of one container.
var removable = regexp.MustCompile(`^spec(\.containers\[([^\[\]]+)\])?((\.[A-Za-z]+)+)$`)

// markRemoved turns the paths in the annotation for it into the nulls that they stand for.
func (p *patch) markRemoved(main string) field.ErrorList {
	list, ok := p.template.Annotations[workload.AnnotationRemove]
	if !ok {
		return nil
	}
	delete(p.template.Annotations, workload.AnnotationRemove)
	delete(objectAt(p.document, "metadata", "annotations"), workload.AnnotationRemove)

	var errs field.ErrorList
	at := patchPath.Child("metadata", "annotations").Key(workload.AnnotationRemove)
	for _, path := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		parts := removable.FindStringSubmatch(path)
		if rest, isDotted := strings.CutPrefix(path, "spec.containers."); isDotted {
			name, fields, _ := strings.Cut(rest, ".")
			errs = append(errs, field.Invalid(at, path, fmt.Sprintf("must name the container in brackets, such as spec.containers[%s].%s", name, cmp.Or(fields, "readinessProbe"))))
			continue
		}
		if parts == nil {
			errs = append(errs, field.Invalid(at, path, "must be paths such as spec.containers[main].readinessProbe, separated by blanks or commas"))
			continue
		}
		container := parts[2]
		if container == workload.MainContainer {
			container = main
		}
		if err := p.setNull(container, strings.Split(parts[3][1:], ".")); err != nil {
			errs = append(errs, field.Invalid(at, path, err.Error()))
		}
	}
	// A container of which only fields are left out stands in the patch now.
	p.template = *readAs[corev1.PodTemplateSpec](p.document)
	return errs
}

// setNull sets a field of the pods, or of the container of that name, to null.
func (p *patch) setNull(container string, fields []string) error {
	shape := any(nil)
	for _, name := range slices.Backward(fields) {
		shape = map[string]any{name: shape}
	}
	if container != "" {
		shape = map[string]any{"containers": []any{shape}}
	}
	if !isFieldOfTemplate(map[string]any{"spec": shape}) {
		return errors.New("is not a field of a pod template; mind upper and lower case")
	}

	object, err := ensureObject(p.document, "spec")
	if err == nil && container != "" {
		object = ensureContainer(object, container)
	}
	last := len(fields) - 1
	for _, name := range fields[:last] {
		if err == nil {
			object, err = ensureObject(object, name)
		}
	}
	if err != nil {
		return err
	}
	if object[fields[last]] != nil {
		return errors.New("is set by the patch: it cannot be left out too")
	}
	object[fields[last]] = nil
	return nil
}

// ensureObject returns the object that a field holds, which it makes if it is missing.
func ensureObject(in map[string]any, name string) (map[string]any, error) {
	if in[name] == nil {
		in[name] = map[string]any{}
	}
	object, ok := in[name].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", name)
	}
	return object, nil
}

// ensureContainer returns the container of a name in the patch, which it adds if it is
// missing.
func ensureContainer(spec map[string]any, name string) map[string]any {
	containers := itemsOf(spec["containers"])
	for _, container := range containers {
		if container["name"] == name {
			return container
		}
	}
	container := map[string]any{"name": name}
	list, _ := spec["containers"].([]any)
	spec["containers"] = append(list, container)
	return container
}
