// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"platformapp/internal/workload"
)

// immutableField returns the path of a field in which the live object differs from what is
// desired and that the API server does not let change, or the empty string.
func immutableField(desired *unstructured.Unstructured, live workload.Object) string {
	switch live := live.(type) {
	case *appsv1.Deployment:
		selector, _, _ := unstructured.NestedStringMap(desired.Object, "spec", "selector", "matchLabels")
		if !equality.Semantic.DeepEqual(live.Spec.Selector, &metav1.LabelSelector{MatchLabels: selector}) {
			return "spec.selector"
		}
	case *corev1.Service:
		// An address may be given out anew, but not be taken from or to None.
		clusterIP, _, _ := unstructured.NestedString(desired.Object, "spec", "clusterIP")
		if live.Spec.ClusterIP != "" && (live.Spec.ClusterIP == corev1.ClusterIPNone) != (clusterIP == corev1.ClusterIPNone) {
			return "spec.clusterIP"
		}
	case *corev1.ConfigMap:
		data, _, _ := unstructured.NestedStringMap(desired.Object, "data")
		if live.Immutable != nil && *live.Immutable && !maps.Equal(live.Data, data) {
			return "data"
		}
	}
	return ""
}

// isReplaceable tells whether an object of ours may be deleted and made anew for the sake
// of an immutable field: nothing but a name and an address is lost for a moment. A
// Deployment would take its pods with it.
func isReplaceable(kind string) bool { return kind != workload.KindDeployment }

// replace deletes an object of ours and makes it anew. A stop between the two leaves what
// an ordinary turn makes up for.
func (t *turn) replace(ctx context.Context, s *step) error {
	if err := t.confirm(); err != nil {
		return err
	}
	if err := t.delete(ctx, s.child.Kind, s.live); err != nil {
		return err
	}
	return t.create(ctx, s)
}
