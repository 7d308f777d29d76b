// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// atRest waits until no application and no Deployment in a namespace has changed for a while, and returns their resource
// versions. Pods may yet come to count as available, which changes them once more.
func (s *scene) atRest(namespace string) map[string]string {
	s.Helper()
	return s.still(namespace, func(*appsv1.Deployment) error { return nil })
}

// settled waits like atRest, and until all pods are available, so that nothing is to come.
func (s *scene) settled(namespace string) map[string]string {
	s.Helper()
	return s.still(namespace, func(d *appsv1.Deployment) error {
		want := ptr.Deref(d.Spec.Replicas, 1)
		if d.Status.ObservedGeneration != d.Generation || d.Status.AvailableReplicas != want || d.Status.Replicas != want {
			return fmt.Errorf("Deployment %s has %d available pods of %d, want %d", d.Name, d.Status.AvailableReplicas, d.Status.Replicas, want)
		}
		return nil
	})
}

// still waits until each Deployment passes the check and nothing has changed for a while.
func (s *scene) still(namespace string, check func(*appsv1.Deployment) error) map[string]string {
	s.Helper()
	var last map[string]string
	var changed time.Time
	s.eventually("applications and Deployments come to rest", func(ctx context.Context) error {
		var deployments appsv1.DeploymentList
		if err := s.admin.List(ctx, &deployments, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range deployments.Items {
			if err := check(&deployments.Items[i]); err != nil {
				return err
			}
		}
		// Read after the check, so that the change that made it pass is one that has to be still too.
		now, err := s.versions(ctx, namespace)
		if err != nil {
			return err
		}
		if !maps.Equal(now, last) {
			last, changed = now, time.Now()
		}
		if unchanged := time.Since(changed); unchanged < quiet {
			return fmt.Errorf("the last change was %s ago", unchanged)
		}
		return nil
	})
	return last
}

// versions returns the resource versions of the applications and Deployments in a namespace.
func (s *scene) versions(ctx context.Context, namespace string) (map[string]string, error) {
	versions := map[string]string{}
	for _, list := range []client.ObjectList{s.kind.list(), &appsv1.DeploymentList{}} {
		if err := s.admin.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object, _ := item.(client.Object)
			versions[fmt.Sprintf("%T %s", object, object.GetName())] = object.GetResourceVersion()
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return versions, nil
}

// gone waits until nothing of these kinds is left in the namespace.
func (s *scene) gone(namespace string, kinds ...client.ObjectList) {
	s.Helper()
	for _, list := range kinds {
		s.eventually(fmt.Sprintf("all of %T are gone", list), func(ctx context.Context) error {
			if err := s.admin.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			if n := meta.LenList(list); n > 0 {
				return fmt.Errorf("%d are left", n)
			}
			return nil
		})
	}
}
