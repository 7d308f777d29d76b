// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// parallelRollouts is how many statuses of Deployments are written at once.
const parallelRollouts = 8

// rollouts plays the Deployment controller in a namespace: each Deployment serves as soon as it is seen.
type rollouts struct {
	client client.WithWatch
	// images tells when a Deployment was first seen with an image.
	images *moments
	// served tells when the status of a generation was written.
	served *moments
}

// playRollouts plays until the context ends. What it reports as an error ends the measurement.
func playRollouts(ctx context.Context, c client.WithWatch, namespace string, failed func(error)) (*rollouts, error) {
	r := &rollouts{client: c, images: newMoments(), served: newMoments()}
	seen := make(chan *appsv1.Deployment, 1<<14)
	err := follow(ctx, c, &appsv1.DeploymentList{}, namespace, failed, func(object client.Object) {
		deployment := object.(*appsv1.Deployment)
		for _, container := range deployment.Spec.Template.Spec.Containers {
			r.images.mark(deployment.Name + "=" + container.Image)
		}
		if deployment.Status.ObservedGeneration < deployment.Generation {
			seen <- deployment
		}
	})
	if err != nil {
		return nil, err
	}
	var workers sync.WaitGroup
	for range parallelRollouts {
		workers.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case deployment := <-seen:
					if err := r.serve(ctx, deployment); err != nil && ctx.Err() == nil {
						failed(err)
					}
				}
			}
		})
	}
	return r, nil
}

// serve writes the status of a Deployment of which all pods serve. One that has changed meanwhile is seen again.
func (r *rollouts) serve(ctx context.Context, deployment *appsv1.Deployment) error {
	n := *deployment.Spec.Replicas
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
	err := r.client.Status().Update(ctx, deployment)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		r.served.mark(generationOf(deployment.Name, deployment.Status.ObservedGeneration))
	}
	return err
}
