// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// found is an object that was made for an application.
type found struct {
	kind string
	metav1.PartialObjectMetadata
}

func (f found) String() string { return f.kind + " " + f.Name }

// children returns what the operator made for the application, of the kinds that every cluster has.
func (t *trial) children(ctx context.Context, app application) ([]found, error) {
	var all []found
	ofApp := labels.SelectorFromSet(labels.Set{workload.LabelOwnerUID: string(app.GetUID())})
	for _, kind := range resources.Kinds {
		if kind.Optional {
			continue
		}
		some, err := t.list(ctx, kind.New(), ofApp)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// objects returns the children of an application, and the ReplicaSets and pods that Kubernetes made of them. The
// application has been read, and the operator has looked at it: its selector is in the status.
func (t *trial) objects(ctx context.Context, app application) ([]found, error) {
	selector, err := labels.Parse(app.AppStatus().Selector)
	if err != nil {
		return nil, fmt.Errorf("status.selector of %s: %w", t.title(app), err)
	}
	if selector.Empty() {
		return nil, fmt.Errorf("status.selector of %s selects everything", t.title(app))
	}
	all, err := t.children(ctx, app)
	if err != nil {
		return nil, err
	}
	for _, kind := range []client.Object{&appsv1.ReplicaSet{}, &corev1.Pod{}} {
		some, err := t.list(ctx, kind, selector)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// list returns the metadata of the objects of a kind that have the labels.
func (t *trial) list(ctx context.Context, kind client.Object, selector labels.Selector) ([]found, error) {
	gvk, err := apiutil.GVKForObject(kind, t.Scheme())
	if err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := t.List(ctx, list, client.InNamespace(t.namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("list %s objects: %w", gvk.Kind, err)
	}
	var all []found
	for _, item := range list.Items {
		all = append(all, found{gvk.Kind, item})
	}
	return all, nil
}

// deletionRemovesChildren deletes an application of each kind and waits until nothing is left of them.
func deletionRemovesChildren(ctx context.Context, t *trial) error {
	app, service, err := t.oneOfEach(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(t.hasKinds(ctx, app, "Deployment", "Service", "ReplicaSet", "Pod"), t.hasKinds(ctx, service, "Deployment", "ReplicaSet", "Pod"))
	if err != nil {
		return err
	}
	var errs []error
	for _, a := range []application{app, service} {
		errs = append(errs, t.delete(ctx, a))
	}
	for _, a := range []application{app, service} {
		errs = append(errs, t.isGone(ctx, repairTimeout, a), t.leavesNothing(ctx, a))
	}
	return errors.Join(errs...)
}

// hasKinds fails unless there is an object of each of these kinds. Otherwise what is asked of all objects would be true
// of none.
func (t *trial) hasKinds(ctx context.Context, app application, kinds ...string) error {
	there, err := t.objects(ctx, app)
	if err != nil {
		return err
	}
	t.log.printf("%s has %v", t.title(app), there)
	for _, kind := range kinds {
		if !slices.ContainsFunc(there, func(f found) bool { return f.kind == kind }) {
			return fmt.Errorf("%s has no %s, but %v", t.title(app), kind, there)
		}
	}
	return nil
}

// leavesNothing waits until garbage collection has removed what was made for a deleted application.
func (t *trial) leavesNothing(ctx context.Context, deleted application) error {
	return t.eventually(ctx, readyTimeout, "nothing is left of "+t.title(deleted), func(ctx context.Context) error {
		left, err := t.objects(ctx, deleted)
		if err == nil && len(left) > 0 {
			return fmt.Errorf("there are %v", left)
		}
		return err
	})
}

// childrenDependOnTheirApplicationAlone looks at everything that an EGApp with many children has. A child that nothing
// of the operator's installation owns, and that has no finalizer, stays when that is removed; an application without a
// finalizer can then still be deleted.
func childrenDependOnTheirApplicationAlone(ctx context.Context, t *trial) error {
	app := t.egappOfManyKinds()
	service, err := t.demoMicroService()
	if err != nil {
		return err
	}
	for _, a := range []application{app, service} {
		if err := t.create(ctx, a); err != nil {
			return err
		}
	}
	if err := errors.Join(t.becomesReady(ctx, app), t.becomesReady(ctx, service)); err != nil {
		return err
	}
	return errors.Join(
		t.hasKinds(ctx, app, "ConfigMap", "Deployment", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy"),
		t.hasKinds(ctx, service, "Deployment"),
		t.ownsAlone(ctx, app), t.ownsAlone(ctx, service),
	)
}

// egappOfManyKinds returns an EGApp that has children of all kinds that can be made anywhere.
func (t *trial) egappOfManyKinds() *v1alpha1.EGApp {
	app := t.egapp()
	app.Name = "egapp-of-many-kinds"
	app.Spec.Environment = v1alpha1.EnvironmentStage
	app.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 3, TargetCPUUtilizationPercentage: new(int32(80))}
	app.Spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Isolation: v1alpha1.IsolationNamespace}
	// With it the presets' variables come from a ConfigMap of their own.
	app.Spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Optional: new(true)}}}
	return app
}

// ownsAlone fails unless the application is the only owner of its children and nothing keeps any of them.
func (t *trial) ownsAlone(ctx context.Context, app application) error {
	children, err := t.children(ctx, app)
	if err != nil {
		return err
	}
	var errs []error
	if finalizers := app.GetFinalizers(); len(finalizers) > 0 {
		errs = append(errs, fmt.Errorf("%s has the finalizers %s", t.title(app), strings.Join(finalizers, ", ")))
	}
	for _, child := range children {
		if fault := faultOfOwnership(child, app); fault != "" {
			errs = append(errs, fmt.Errorf("%s of %s %s", child, t.title(app), fault))
		}
	}
	return errors.Join(errs...)
}

// faultOfOwnership says what is wrong with the owners or finalizers of a child, or nothing.
func faultOfOwnership(child found, app application) string {
	switch owners := child.OwnerReferences; {
	case len(child.Finalizers) > 0:
		return "has the finalizers " + strings.Join(child.Finalizers, ", ")
	case len(owners) != 1 || owners[0].UID != app.GetUID():
		return fmt.Sprintf("is not owned by it alone, but by %+v", owners)
	case !ptr.Deref(owners[0].Controller, false):
		return "is owned, but not controlled by it"
	case ptr.Deref(owners[0].BlockOwnerDeletion, false):
		return "blocks its deletion"
	}
	return ""
}
