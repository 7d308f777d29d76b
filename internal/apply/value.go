// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// valueAt returns the value at a path of an object, or nil when there is none.
func valueAt(v value.Value, path fieldpath.Path) value.Value {
	for _, element := range path {
		if v = child(v, element); v == nil {
			return nil
		}
	}
	return v
}

func child(v value.Value, element fieldpath.PathElement) value.Value {
	switch {
	case v.IsNull():
		return nil
	case element.FieldName != nil && v.IsMap():
		field, _ := v.AsMap().Get(*element.FieldName)
		return field
	case element.Key != nil && v.IsList():
		for items := v.AsList().Range(); items.Next(); {
			if _, item := items.Item(); hasKey(item, *element.Key) {
				return item
			}
		}
	}
	return nil
}

func hasKey(item value.Value, key value.FieldList) bool {
	if !item.IsMap() {
		return false
	}
	for _, field := range key {
		got, ok := item.AsMap().Get(field.Name)
		if !ok || !value.Equals(got, field.Value) {
			return false
		}
	}
	return true
}

// isZero tells whether a value is one that a type may leave out.
func isZero(v value.Value) bool {
	switch {
	case v == nil || v.IsNull():
		return true
	case v.IsBool():
		return !v.AsBool()
	case v.IsInt():
		return v.AsInt() == 0
	case v.IsFloat():
		return v.AsFloat() == 0
	case v.IsString():
		return v.AsString() == ""
	case v.IsList():
		return v.AsList().Length() == 0
	case v.IsMap():
		return v.AsMap().Length() == 0
	}
	return false
}
