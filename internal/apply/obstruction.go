// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// refusalCause is a field that a refusal names: one of an item of a list, or a plain one.
type refusalCause struct {
	// list names the fields from the root to the list: spec, ports.
	list []string
	// field is the field of the item that is refused, or empty for the item itself.
	field string
	// plain names the fields from the root to a field that is in no list: spec, strategy,
	// rollingUpdate.
	plain []string
}

// causesOf returns the causes of a refusal that lie in the specification: spec.ports[1].name
// is the field name in an item of spec, ports.
func causesOf(refusal error) []refusalCause {
	var status apierrors.APIStatus
	if !errors.As(refusal, &status) || status.Status().Details == nil {
		return nil
	}
	var causes []refusalCause
	for _, cause := range status.Status().Details.Causes {
		end := strings.LastIndex(cause.Field, "[")
		if cause.Field != "spec" && !strings.HasPrefix(cause.Field, "spec.") {
			continue
		}
		if end < 0 {
			causes = append(causes, refusalCause{plain: strings.Split(cause.Field, ".")})
			continue
		}
		var c refusalCause
		for segment := range strings.SplitSeq(cause.Field[:end], ".") {
			name, _, _ := strings.Cut(segment, "[")
			c.list = append(c.list, name)
		}
		_, rest, _ := strings.Cut(cause.Field[end:], "]")
		c.field, _, _ = strings.Cut(strings.TrimPrefix(rest, "."), ".")
		causes = append(causes, c)
	}
	return causes
}

// obstruction finds the fields of other managers for which the server refuses what is
// wanted.
type obstruction struct {
	wanted     *fieldpath.Set
	want, have value.Value
	causes     []refusalCause
}

// in returns those of the foreign fields that obstruct: what others added under a refused
// plain field or field of an item that is wanted, or else the items of others that collide with one.
func (o obstruction) in(foreign *fieldpath.Set) *fieldpath.Set {
	var within, beside []fieldpath.Path
	for path := range foreign.All() {
		if o.wanted.Has(path) {
			continue
		}
		for _, cause := range o.causes {
			item := itemIn(path, cause.list)
			switch {
			case isBelow(path, cause.plain):
				within = append(within, path.Copy())
			case item == nil || !o.enclosingItemsAreWanted(item):
			case !o.wanted.Has(item):
				if o.collides(item, cause.field) {
					beside = append(beside, path.Copy())
				}
			case len(path) > len(item) && isField(path[len(item)], cause.field):
				within = append(within, path.Copy())
			}
		}
	}
	if len(within) > 0 {
		return fieldpath.NewSet(within...)
	}
	return fieldpath.NewSet(beside...)
}

// isBelow tells whether a path leads to a plain field or below it.
func isBelow(path fieldpath.Path, plain []string) bool {
	if len(plain) == 0 || len(path) < len(plain) {
		return false
	}
	for i, name := range plain {
		if path[i].FieldName == nil || *path[i].FieldName != name {
			return false
		}
	}
	return true
}

// isField tells whether a path element is the field of that name; no name means any.
func isField(element fieldpath.PathElement, name string) bool {
	return name == "" || (element.FieldName != nil && *element.FieldName == name)
}

// itemIn returns the part of a path that leads to an item of the list, or nil.
func itemIn(path fieldpath.Path, list []string) fieldpath.Path {
	var names []string
	for i, element := range path {
		if element.FieldName != nil {
			names = append(names, *element.FieldName)
		} else if element.Key != nil && slices.Equal(list, names) {
			return path[:i+1]
		}
	}
	return nil
}

// enclosingItemsAreWanted tells whether the items that enclose an item are wanted: a
// container of somebody else is none of our business.
func (o obstruction) enclosingItemsAreWanted(item fieldpath.Path) bool {
	for i, element := range item[:len(item)-1] {
		if element.Key != nil && !o.wanted.Has(item[:i+1]) {
			return false
		}
	}
	return true
}

// collides tells whether an item of somebody else has the value of a wanted item in the
// refused field, or lacks the field altogether.
func (o obstruction) collides(item fieldpath.Path, field string) bool {
	theirs := valueAt(o.have, item)
	list := valueAt(o.want, item[:len(item)-1])
	if field == "" || theirs == nil || list == nil || !list.IsList() {
		return true
	}
	got, ok := theirs.AsMap().Get(field)
	if !ok {
		return true
	}
	for items := list.AsList().Range(); items.Next(); {
		_, ours := items.Item()
		if wanted, ok := ours.AsMap().Get(field); ok && value.Equals(got, wanted) {
			return true
		}
	}
	return false
}
