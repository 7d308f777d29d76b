// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package observe reads an owner's children, all in one look; nothing else reads them.
// cache.go says what of the cluster is kept in memory to be read from.
package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// Reader reads children.
type Reader struct {
	// Cache holds the operator's own objects.
	Cache client.Reader
	// Live is the API server, which has the objects of others as well.
	Live client.Reader
	// Fence knows what the operator wrote.
	Fence *Fence
}

// Read returns what there is of the owner's children. With live set it asks the API
// server for the children that the cache lacks, since a name may be taken by an object
// of somebody else. An error means that the look is incomplete and of no use.
func (r Reader) Read(ctx context.Context, owner workload.Owner, live bool) (workload.Observed, error) {
	observed := workload.Observed{Children: map[string]workload.Object{}}
	for _, kind := range resources.Kinds {
		object, err := r.child(ctx, owner, kind, live)
		if err != nil {
			return observed, fmt.Errorf("read %s %s/%s: %w", kind.Name, owner.Namespace, owner.Name, err)
		}
		if object != nil {
			observed.Children[kind.Name] = object
		}
	}
	if deployment := observed.Deployment(); deployment != nil {
		if err := r.readPods(ctx, owner, deployment.UID, &observed); err != nil {
			return observed, err
		}
	}
	return observed, nil
}

func (r Reader) child(ctx context.Context, owner workload.Owner, kind resources.Kind, live bool) (workload.Object, error) {
	key := types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}
	object := kind.New()
	err := r.Get(ctx, kind.Name, key, object)
	if apierrors.IsNotFound(err) && live {
		object = kind.New()
		err = r.Live.Get(ctx, key, object)
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return object, err
}

// readPods reads the pods that belong to the Deployment: by the chain of UIDs from pod
// to ReplicaSet to Deployment, since names and labels may be shared with a predecessor.
func (r Reader) readPods(ctx context.Context, owner workload.Owner, deployment types.UID, observed *workload.Observed) error {
	selection := []client.ListOption{client.InNamespace(owner.Namespace), client.MatchingFields{ownerIndex: ownerIndexKey(owner.SelectorKey, owner.Name)}}
	var replicaSets metav1.PartialObjectMetadataList
	replicaSets.SetGroupVersionKind(replicaSetKind)
	if err := r.Cache.List(ctx, &replicaSets, selection...); err != nil {
		return fmt.Errorf("list ReplicaSets of %s/%s: %w", owner.Namespace, owner.Name, err)
	}
	controllers := map[types.UID]bool{}
	for _, replicaSet := range replicaSets.Items {
		if isControlledBy(&replicaSet, deployment) {
			controllers[replicaSet.UID] = true
			observed.ReplicaSets = append(observed.ReplicaSets, replicaSet)
		}
	}
	var pods corev1.PodList
	if err := r.Cache.List(ctx, &pods, selection...); err != nil {
		return fmt.Errorf("list Pods of %s/%s: %w", owner.Namespace, owner.Name, err)
	}
	for _, pod := range pods.Items {
		if controller := metav1.GetControllerOfNoCopy(&pod); controller != nil && controllers[controller.UID] {
			observed.Pods = append(observed.Pods, pod)
		}
	}
	slices.SortFunc(observed.Pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// Forget drops what is remembered of an owner that is gone, and of its children.
func (r Reader) Forget(kind string, name types.NamespacedName) {
	r.Fence.Forget(kind, name)
	for _, child := range resources.Kinds {
		r.Fence.Forget(child.Name, name)
	}
}

func isControlledBy(object metav1.Object, uid types.UID) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.UID == uid
}
