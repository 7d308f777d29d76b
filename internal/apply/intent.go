// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// intent is a child to be applied, before the server's answer overwrites it.
type intent struct {
	child  resources.Child
	key    types.NamespacedName
	hash   string
	gvk    schema.GroupVersionKind
	scheme *runtime.Scheme
	// object is the child as it is applied, once it is parsed.
	object *unstructured.Unstructured
}

func newIntent(owner workload.Owner, child resources.Child, scheme *runtime.Scheme) (*intent, error) {
	serialized, err := json.Marshal(child.Config)
	if err != nil {
		return nil, fmt.Errorf("serialize %s: %w", child.Kind, err)
	}
	in := &intent{child: child, key: types.NamespacedName{Namespace: owner.Namespace, Name: child.Name}, hash: hashOf(serialized), scheme: scheme}
	child.Meta.WithAnnotations(map[string]string{workload.AnnotationAppliedHash: in.hash})
	return in, nil
}

// parse makes the object of the intent, which a child that needs no write does without. It
// must run before the child's metadata says which object it is applied to.
func (in *intent) parse() error {
	serialized, err := json.Marshal(in.child.Config)
	if err != nil {
		return fmt.Errorf("serialize %s: %w", in.child.Kind, err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(serialized); err != nil {
		return fmt.Errorf("read %s: %w", in.child.Kind, err)
	}
	in.object, in.gvk = object, object.GroupVersionKind()
	return nil
}

// hashOf is the hash of what is applied: 64 bits of SHA-256, in hexadecimal.
func hashOf(serialized []byte) string {
	sum := sha256.Sum256(serialized)
	return hex.EncodeToString(sum[:8])
}

func (in *intent) newObject() (workload.Object, error) {
	object, err := in.scheme.New(in.gvk)
	if err != nil {
		return nil, err
	}
	typed, ok := object.(workload.Object)
	if !ok {
		return nil, fmt.Errorf("%s is not an object with metadata", in.gvk)
	}
	return typed, nil
}

func (in *intent) memoryKey() memoryKey { return memoryKey{in.child.Kind, in.key} }
