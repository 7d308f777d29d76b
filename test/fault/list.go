// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// List returns what there is in a namespace now. It is for tests whose API server comes and goes, so that no watch could
// tell them the history. Kinds that the cluster does not have are left out. It fails when a kind cannot be listed.
func List(ctx context.Context, client dynamic.Interface, namespace string) (View, error) {
	v := View{objects: map[objectKey]*unstructured.Unstructured{}, replicaSets: map[string]string{}}
	for kind, resource := range recordedKinds {
		list, err := client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return View{}, fmt.Errorf("list %s: %w", resource, err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			if object.GetName() == rootCA {
				continue
			}
			v.objects[objectKey{kind, object.GetName()}] = object
			if kind == "ReplicaSet" {
				v.replicaSets[object.GetName()] = replicaSetName(object)
			}
		}
	}
	return v, nil
}
