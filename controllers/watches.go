// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"platformapp/internal/observe"
	"platformapp/internal/workload"
)

// toOwner looks at the application of a kind that an object belongs to.
func toOwner(kind, selectorKey string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		return ownersOf(object, kind, selectorKey)
	})
}

// ownersOf returns the application that an object belongs to, by its label, the one that
// controls it, since either mark may have been taken away, and the one that it scales.
func ownersOf(object client.Object, kind, selectorKey string) []reconcile.Request {
	var requests []reconcile.Request
	add := func(name string) {
		request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}
		if !slices.Contains(requests, request) {
			requests = append(requests, request)
		}
	}
	if name, ok := object.GetLabels()[selectorKey]; ok {
		add(name)
	}
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && controller.Kind == kind {
		add(controller.Name)
	}
	if name, ok := observe.ScaledBy(object, selectorKey); ok {
		add(name)
	}
	return requests
}

// toReferrers looks at the applications that refer to an object of somebody else, when
// what they use of it comes, goes or changes.
func toReferrers(references *observe.References) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(q queue, owners []types.NamespacedName) {
		for _, owner := range owners {
			q.Add(reconcile.Request{NamespacedName: owner})
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(q, references.Owners(e.Object)) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			add(q, references.OwnersOfChange(e.ObjectOld, e.ObjectNew))
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { add(q, references.Owners(e.Object)) },
	}
}

// readOfReplicaSet drops the updates of a ReplicaSet that change nothing of what is read.
var readOfReplicaSet = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld, e.ObjectNew
	return before.GetAnnotations()[workload.AnnotationRevision] != after.GetAnnotations()[workload.AnnotationRevision] ||
		!equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) ||
		!equality.Semantic.DeepEqual(before.GetLabels(), after.GetLabels())
}}

// readOfChild drops the updates of an autoscaler that change nothing but its measurements,
// which it writes every few seconds. Of the other kinds every update counts.
var readOfChild = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, isAutoscaler := e.ObjectOld.(*autoscalingv2.HorizontalPodAutoscaler)
	after, isAutoscalerStill := e.ObjectNew.(*autoscalingv2.HorizontalPodAutoscaler)
	if !isAutoscaler || !isAutoscalerStill {
		return true
	}
	return workload.ScalingProblem(before) != workload.ScalingProblem(after) ||
		!equality.Semantic.DeepEqual(before.Spec, after.Spec) ||
		!equality.Semantic.DeepEqual(writtenMetadata(before), writtenMetadata(after))
}}

// writtenMetadata is the metadata that does not change with every write.
func writtenMetadata(object metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		UID: object.GetUID(), DeletionTimestamp: object.GetDeletionTimestamp(), OwnerReferences: object.GetOwnerReferences(),
		Labels: object.GetLabels(), Annotations: object.GetAnnotations(),
	}
}
