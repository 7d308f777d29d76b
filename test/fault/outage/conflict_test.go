// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
)

// stormRate is how many objects somebody rewrites in a second.
const stormRate = 50

// conflictPlans let somebody else rewrite the metadata of the applications and of their children all the time.
func conflictPlans() [][]plan {
	return [][]plan{{{class: "conflict storm", name: "outage/conflict-storm", kinds: bothKinds, run: conflictStorm}}}
}

func conflictStorm(s *scene) {
	length := 6 * time.Second
	if isFull {
		length = 20 * time.Second
	}
	namespace := s.newNamespace("storm")
	op, a := s.startOperator([]string{namespace})
	egapp, service := newEGApp(namespace, "orders", everyChild), newDemoMicroService(namespace, "podinfo", image)
	apps := []application{egapp, service}
	s.create(egapp, service)
	for _, app := range apps {
		s.awaitReports(app, appstatus.ReasonReady)
	}
	before := s.children(namespace)
	orders, podinfo := metav1.ObjectMeta{Namespace: namespace, Name: "orders"}, metav1.ObjectMeta{Namespace: namespace, Name: "podinfo"}
	targets := []client.Object{
		egapp.DeepCopy(), service.DeepCopy(),
		&appsv1.Deployment{ObjectMeta: orders}, &appsv1.Deployment{ObjectMeta: podinfo},
		&corev1.Service{ObjectMeta: orders}, &networkingv1.Ingress{ObjectMeta: orders},
	}
	start := time.Now()
	ctx, end := context.WithTimeout(s.Context(), length)
	defer end()
	var rewritten atomic.Int64
	stormed := make(chan time.Time, 1)
	go func() {
		s.storm(ctx, targets, &rewritten)
		stormed <- time.Now()
	}()
	for _, app := range apps {
		// By a patch, which no write of somebody else is in the way of.
		was := app.DeepCopyObject().(client.Object)
		setImage(app, newImage)
		s.must(s.admin.Patch(s.Context(), app, client.MergeFrom(was)))
	}
	asked := time.Since(start)
	for _, app := range apps {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app.GetName()}}
		s.eventually(patience, app.GetName()+" makes progress during the storm", func(ctx context.Context) error {
			if err := s.admin.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
				return err
			}
			if got := deployment.Spec.Template.Spec.Containers[0].Image; got != newImage {
				return errors.New(got)
			}
			return nil
		})
	}
	took := time.Since(start)
	for _, app := range apps {
		s.awaitRolledOut(app)
	}
	rolledOut := time.Since(start)
	for _, app := range apps {
		s.awaitReports(app, appstatus.ReasonReady)
	}
	told := time.Since(start)
	length = (<-stormed).Sub(start)
	s.Logf("after the start of the storm the change is asked for in %s, carried out in %s, rolled out in %s, and told in %s",
		asked, took, rolledOut, told)
	if took > limit(length) {
		s.violate("", "the change is carried out %s after the storm began, which was over after %s", took, length)
	}
	if told-rolledOut > limit(settling) {
		s.violate("", "that the change is rolled out is told only %s later", told-rolledOut)
	}
	errorsLogged := len(slices.DeleteFunc(op.process().Errors(), func(line string) bool { return !strings.Contains(line, namespace) }))
	s.Logf("%d objects were rewritten in %s; %d errors are in the log", rewritten.Load(), length, errorsLogged)
	// A machine that does much else does not reach the rate.
	if rewritten.Load() < int64(length.Seconds())*stormRate/10 {
		s.Errorf("only %d objects were rewritten: that is no storm", rewritten.Load())
	}
	if errorsLogged > int(length.Seconds()) {
		s.violate("", "%d errors are logged in %s", errorsLogged, length)
	}
	if isFull {
		s.expectQuietFrom(a, start.Add(max(length, rolledOut)+settling))
	}
	s.expectQuiet(a)
	for _, app := range apps {
		if err := s.reports(s.Context(), app, appstatus.ReasonReady); err != nil {
			s.violate(kindOf(app), "after the storm: %v", err)
		}
	}
	s.expectSame(before, s.children(namespace))
	s.expectSound(op, 0)
}

// settling is how long after its end the operator may have to do with a storm, and how long during it, and by how many
// conflicts, a write of a status may be kept up.
const settling = 5 * time.Second

// awaitRolledOut waits until the Deployment of an application is rolled out, by its own status. Its controller has to write
// that in the same storm, each time that it loses later than the time before.
func (s *scene) awaitRolledOut(app application) {
	s.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: app.GetNamespace(), Name: app.GetName()}}
	s.eventually(patience, app.GetName()+" is rolled out", func(ctx context.Context) error {
		if err := s.admin.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
			return err
		}
		want, got := *deployment.Spec.Replicas, deployment.Status
		isDone := slices.ContainsFunc(got.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentProgressing && c.Reason == "NewReplicaSetAvailable"
		})
		isCounted := got.UpdatedReplicas == want && got.Replicas == want && got.AvailableReplicas == want
		if got.ObservedGeneration != deployment.Generation || !isCounted || !isDone {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
}

// storm rewrites one object after the other until the context ends, by as many writers as keep up the rate.
func (s *scene) storm(ctx context.Context, targets []client.Object, rewritten *atomic.Int64) {
	turns := make(chan int)
	var writers sync.WaitGroup
	for range stormRate / 5 {
		writers.Go(func() {
			for i := range turns {
				target := targets[i%len(targets)].DeepCopyObject().(client.Object)
				patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/storm":"%d"}}}`, i))
				if err := s.admin.Patch(ctx, target, patch); err == nil {
					rewritten.Add(1)
				}
			}
		})
	}
	ticker := time.NewTicker(time.Second / stormRate)
	defer ticker.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		select {
		case <-ctx.Done():
		case <-ticker.C:
			turns <- i
		}
	}
	close(turns)
	writers.Wait()
}
