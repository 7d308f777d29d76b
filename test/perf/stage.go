// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// stageTimeout bounds what is done in one namespace.
	stageTimeout = 10 * time.Minute
	clearPoll    = 50 * time.Millisecond
)

// stage is a namespace in which applications of one kind come to serve.
type stage struct {
	ctx       context.Context
	end       context.CancelCauseFunc
	client    client.WithWatch
	subject   subject
	namespace string
	rollouts  *rollouts
	// ready tells when an application was first seen to be ready in a generation or a later one, by its name and generation: of
	// changes that come fast some are overtaken.
	ready *moments
}

// newStage makes a namespace in which the rollouts are played and it is seen which applications are ready. The caller
// clears it.
func newStage(ctx context.Context, p *plane, s subject) (*stage, error) {
	c, err := p.client()
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "perf-"}}
	if err := c.Create(ctx, namespace); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, stageTimeout)
	ctx, end := context.WithCancelCause(ctx)
	context.AfterFunc(ctx, stop)
	g := &stage{ctx: ctx, end: end, client: c, subject: s, namespace: namespace.Name, ready: newMoments()}
	if g.rollouts, err = playRollouts(ctx, c, g.namespace, end); err != nil {
		end(err)
		return nil, err
	}
	err = follow(ctx, c, s.list(), g.namespace, end, func(object client.Object) {
		app := object.(application)
		isNews := isReady(app)
		for generation := app.GetGeneration(); isNews && generation > 0; generation-- {
			isNews = g.ready.mark(generationOf(app.GetName(), generation))
		}
	})
	if err != nil {
		end(err)
		return nil, err
	}
	return g, nil
}

func generationOf(name string, generation int64) string {
	return fmt.Sprintf("%s@%d", name, generation)
}

// newApp returns an application of the stage, to be created.
func (g *stage) newApp(i int) application { return g.subject.make(g.namespace, nameOf(i)) }

// awaitReady returns when n applications are ready and the rollouts of all are played.
func (g *stage) awaitReady(n int) error {
	if err := g.ready.awaitAll(g.ctx, n); err != nil {
		return fmt.Errorf("applications that are ready: %w", err)
	}
	if err := g.rollouts.served.awaitAll(g.ctx, n); err != nil {
		return fmt.Errorf("the Deployments that serve: %w", err)
	}
	return nil
}

// clear deletes what is in the stage, the applications first, so that nobody makes again what is deleted.
func (g *stage) clear(ctx context.Context) error {
	g.end(nil)
	app := g.newApp(0)
	for _, kind := range []client.Object{app, &appsv1.Deployment{}} {
		if err := g.client.DeleteAllOf(ctx, kind, client.InNamespace(g.namespace)); err != nil {
			return err
		}
	}
	// Services cannot be deleted together.
	var services corev1.ServiceList
	if err := g.client.List(ctx, &services, client.InNamespace(g.namespace)); err != nil {
		return err
	}
	err := inParallel(ctx, parallel, len(services.Items), func(ctx context.Context, i int) error {
		return client.IgnoreNotFound(g.client.Delete(ctx, &services.Items[i]))
	})
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, clearPoll, stageTimeout, true, func(ctx context.Context) (bool, error) {
		for _, list := range []client.ObjectList{g.subject.list(), &appsv1.DeploymentList{}, &corev1.ServiceList{}} {
			if err := g.client.List(ctx, list, client.InNamespace(g.namespace), client.Limit(1)); err != nil {
				return false, err
			}
			if lengthOf(list) > 0 {
				return false, nil
			}
		}
		return true, nil
	})
}
