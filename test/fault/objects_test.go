// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// objectOf reads an object from YAML. It has a UID, as all objects have.
func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(content); err != nil {
		t.Fatal(err)
	}
	if object.GetUID() == "" {
		object.SetUID(types.UID("the-uid-of-" + object.GetKind() + "-" + object.GetName()))
	}
	return object
}

// viewOf returns a view of objects in YAML.
func viewOf(t *testing.T, texts ...string) View {
	t.Helper()
	v := View{objects: map[objectKey]*unstructured.Unstructured{}, replicaSets: map[string]string{}}
	for _, text := range texts {
		object := objectOf(t, text)
		v.objects[objectKey{object.GetKind(), object.GetName()}] = object
		if object.GetKind() == "ReplicaSet" {
			v.replicaSets[object.GetName()] = replicaSetName(object)
		}
	}
	return v
}

// stateOf returns the state of objects in YAML in the namespace team-1.
func stateOf(t *testing.T, texts ...string) State {
	t.Helper()
	state, err := StateOf("team-1", viewOf(t, texts...))
	if err != nil {
		t.Fatal(err)
	}
	return state
}
