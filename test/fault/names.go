// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// templateHash is the label that tells the pods of one ReplicaSet from those of another, and the end of its name.
const templateHash = "pod-template-hash"

// replicaSetName is the name of a ReplicaSet by its pod template alone. The control plane's own, which is a hash too, is
// another one when a ReplicaSet of a former Deployment still has it.
func replicaSetName(object *unstructured.Unstructured) string {
	controller := metav1.GetControllerOf(object)
	template, _, _ := unstructured.NestedMap(object.Object, "spec", "template")
	unstructured.RemoveNestedField(template, "metadata", "labels", templateHash)
	content, err := json.Marshal(template)
	if err != nil || controller == nil {
		return object.GetName()
	}
	hash := fnv.New32a()
	_, _ = hash.Write(content)
	return fmt.Sprintf("%s-<template %08x>", controller.Name, hash.Sum32())
}

// nameOf is the name of an object without what the control plane made up. replicaSets are the names of ReplicaSets by the
// ones that they have.
func nameOf(kind string, object *unstructured.Unstructured, replicaSets map[string]string) string {
	name := object.GetName()
	if kind == "Pod" {
		name = strings.TrimSuffix(object.GetGenerateName(), "-")
	}
	if known, ok := replicaSets[name]; ok {
		name = known
	}
	if kind == "Pod" {
		name += "-*"
	}
	return name
}
