// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/fault/proxy"
)

// Who writes beside the operator: a person at the application itself, a person who meddles with its children, another
// controller, and an autoscaler.
const (
	user       = "user"
	meddler    = "meddler"
	injector   = "sidecar-injector"
	autoscaler = "autoscaler"
)

// Stage is where the steps of a scenario are played: a namespace, and the operator that watches it.
type Stage struct {
	// Namespace is the scenario's own.
	Namespace string
	// History is that of the namespace.
	History *History
	// Operator is the process that looks after it.
	Operator *Kubelet
	// Proxy is between the operator and the API server.
	Proxy *proxy.Proxy

	admin    client.Client
	objects  dynamic.Interface
	binaries Binaries
}

// Create creates an object as somebody.
func (s *Stage) Create(ctx context.Context, kind string, object client.Object, by string) error {
	object.SetNamespace(s.Namespace)
	if err := s.admin.Create(ctx, object, client.FieldOwner(by)); err != nil {
		return fmt.Errorf("create %s %s: %w", kind, object.GetName(), err)
	}
	return s.History.AwaitVersion(ctx, kind, object.GetName(), object.GetResourceVersion())
}

// Patch changes an object by a patch of the given type, as somebody.
func (s *Stage) Patch(ctx context.Context, kind, name string, patchType types.PatchType, patch, by string, subresources ...string) error {
	object, err := s.objects.Resource(recordedKinds[kind]).Namespace(s.Namespace).
		Patch(ctx, name, patchType, []byte(patch), metav1.PatchOptions{FieldManager: by}, subresources...)
	if err != nil {
		return fmt.Errorf("patch %s %s: %w", kind, name, err)
	}
	return s.History.AwaitVersion(ctx, kind, name, object.GetResourceVersion())
}

// Delete deletes an object in the background, as kubectl does, and does not wait until it is gone.
func (s *Stage) Delete(ctx context.Context, kind, name string) error {
	live := s.History.View().Get(kind, name)
	if live == nil {
		return fmt.Errorf("delete %s %s: there is none", kind, name)
	}
	background := metav1.DeletePropagationBackground
	err := s.objects.Resource(recordedKinds[kind]).Namespace(s.Namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil {
		return fmt.Errorf("delete %s %s: %w", kind, name, err)
	}
	return s.History.AwaitGone(ctx, objectKey{kind, name}, live.GetUID())
}

// Scale sets the number of pods of a Deployment through its scale subresource, as autoscalers and kubectl scale do.
func (s *Stage) Scale(ctx context.Context, deployment string, replicas int, by string) error {
	scale, err := s.objects.Resource(recordedKinds["Deployment"]).Namespace(s.Namespace).Patch(ctx, deployment, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{FieldManager: by}, "scale")
	if err != nil {
		return fmt.Errorf("scale %s: %w", deployment, err)
	}
	return s.History.AwaitVersion(ctx, "Deployment", deployment, scale.GetResourceVersion())
}
