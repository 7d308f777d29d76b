// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package observe reads an owner's children, and what of others bears on them, all in one
// look; nothing else reads them. cache.go says what of the cluster is kept in memory to be
// read from.
package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/platform"
	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// Reader reads children.
type Reader struct {
	// Cache holds what CacheOptions says.
	Cache client.Reader
	// Live is the API server, which has the objects of others as well.
	Live client.Reader
	// Platform returns what is known of the cluster, or why nothing is.
	Platform func() (platform.Facts, error)
	// Fence knows what the operator wrote.
	Fence *Fence
}

// Read returns what there is of the workload's children, and what it refers to. Of a
// workload that is not valid the owner is enough. With live set, for which it must be valid,
// the API server is asked for the children that it wants and the cache lacks: their names
// may be taken by objects of somebody else. An error means that the look is incomplete:
// nothing may be decided by it, but what was seen can be told. What is returned is shared
// with the cache and must not be changed.
func (r Reader) Read(ctx context.Context, w workload.Workload, live bool) (workload.Observed, error) {
	observed := workload.Observed{Children: make(map[string]workload.Object, len(resources.Kinds))}
	facts, err := r.Platform()
	observed.Platform = facts.Platform
	failures := []error{err}
	for _, kind := range resources.Kinds {
		there, err := isThere(facts, kind, w)
		failures = append(failures, err)
		if !there {
			continue
		}
		object, err := r.child(ctx, w.Owner, kind)
		switch {
		case err != nil:
			failures = append(failures, unread(w.Owner, kind, err))
		case object != nil:
			observed.Children[kind.Name] = object
		}
	}
	failures = append(failures, r.readOthers(ctx, w, &observed))
	if live && errors.Join(failures...) == nil {
		failures = append(failures, r.readTaken(ctx, w, &observed))
	}
	if deployment := observed.Deployment(); deployment != nil {
		failures = append(failures, r.readPods(ctx, w.Owner, deployment.UID, &observed))
	}
	return observed, errors.Join(failures...)
}

// readTaken reads from the API server the children that the workload wants and the cache
// lacks.
func (r Reader) readTaken(ctx context.Context, w workload.Workload, observed *workload.Observed) error {
	for _, child := range resources.Desired(w, *observed) {
		kind := resources.Kinds[slices.IndexFunc(resources.Kinds, func(k resources.Kind) bool { return k.Name == child.Kind })]
		if observed.Children[kind.Name] != nil {
			continue
		}
		object := kind.New()
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: w.Owner.Namespace, Name: child.Name}, object)
		switch {
		case err == nil:
			observed.Children[kind.Name] = object
		case !apierrors.IsNotFound(err):
			return unread(w.Owner, kind, err)
		}
	}
	return nil
}

func unread(owner workload.Owner, kind resources.Kind, err error) error {
	return fmt.Errorf("read %s %s/%s: %w", kind.Name, owner.Namespace, owner.Name+kind.Suffix, err)
}

// isThere tells whether the cluster has a kind. Where it cannot tell, that is an error for
// a workload that may want a child of the kind, and of no interest for the others.
func isThere(facts platform.Facts, kind resources.Kind, w workload.Workload) (bool, error) {
	if !kind.Optional {
		return true, nil
	}
	if facts.Unknown[kind.Name] && mayWant(w, kind.Name) {
		return false, fmt.Errorf("the cluster does not tell yet whether it has the kind %s", kind.Name)
	}
	return facts.Kinds[kind.Name], nil
}

// mayWant tells whether the workload may want a child of an optional kind. A child that it
// wants no longer waits for its end until the cluster tells of the kind.
func mayWant(w workload.Workload, kind string) bool {
	switch workload.ExposureType(kind) {
	case workload.ExposureRoute, workload.ExposureHTTPRoute:
		return w.MayBeExposedBy(workload.ExposureType(kind))
	default:
		return w.Monitoring != nil
	}
}

func (r Reader) child(ctx context.Context, owner workload.Owner, kind resources.Kind) (workload.Object, error) {
	object := kind.New()
	err := r.Get(ctx, kind.Name, types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name + kind.Suffix}, object)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return object, nil
}

// readPods reads the pods that belong to the Deployment: by the chain of UIDs from pod
// to ReplicaSet to Deployment, since names and labels may be shared with a predecessor.
func (r Reader) readPods(ctx context.Context, owner workload.Owner, deployment types.UID, observed *workload.Observed) error {
	selection := selectBy(owner, ownerIndex)
	var replicaSets metav1.PartialObjectMetadataList
	replicaSets.SetGroupVersionKind(replicaSetKind)
	if err := r.Cache.List(ctx, &replicaSets, selection); err != nil {
		return fmt.Errorf("list ReplicaSets of %s/%s: %w", owner.Namespace, owner.Name, err)
	}
	controllers := map[types.UID]bool{}
	for _, replicaSet := range replicaSets.Items {
		if isControlledBy(&replicaSet, deployment) {
			controllers[replicaSet.UID] = true
			observed.ReplicaSets = append(observed.ReplicaSets, replicaSet)
		}
	}
	if len(controllers) == 0 {
		return nil
	}
	var pods corev1.PodList
	if err := r.Cache.List(ctx, &pods, selection); err != nil {
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

// Forget drops what is remembered of the children of an owner that is gone. What is awaited of the owner itself stays until
// the cache shows its end, too: to look again as if nothing were known would be to see it once more.
func (r Reader) Forget(owner types.NamespacedName) {
	for _, child := range resources.Kinds {
		r.Fence.Forget(child.Name, types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name + child.Suffix})
	}
}

func isControlledBy(object metav1.Object, uid types.UID) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.UID == uid
}
