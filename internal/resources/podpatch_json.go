// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kjson "sigs.k8s.io/json"
)

// jsonOf returns the JSON of an apply configuration, with whole numbers as integers.
func jsonOf(config any) map[string]any {
	document := map[string]any{}
	serialized, err := json.Marshal(config)
	if err == nil {
		err = utiljson.Unmarshal(serialized, &document)
	}
	if err != nil {
		panic(fmt.Sprintf("serialize %T: %v", config, err)) // every type of the API has a JSON
	}
	return document
}

// objectAt returns the object at a path of fields, or nil if there is none.
func objectAt(document map[string]any, path ...string) map[string]any {
	for _, name := range path {
		document, _ = document[name].(map[string]any)
	}
	return document
}

// itemsOf returns the items of a list of objects, or nil if it is none.
func itemsOf(list any) []map[string]any {
	items, _ := list.([]any)
	objects := make([]map[string]any, len(items))
	for i, item := range items {
		objects[i], _ = item.(map[string]any)
	}
	return objects
}

// isFieldOfTemplate tells whether a document names only fields that a pod template has.
func isFieldOfTemplate(document any) bool {
	serialized, err := json.Marshal(document)
	if err != nil {
		return false
	}
	strict, err := kjson.UnmarshalStrict(serialized, &corev1.PodTemplateSpec{})
	return err == nil && len(strict) == 0
}
