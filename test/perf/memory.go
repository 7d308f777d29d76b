// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/test/operator"
)

const (
	// startSamples is how often the start of the operator is timed.
	startSamples = 5
	// settledShare is how little the heap may change between two collections to count as what is held.
	settledShare   = 0.005
	settledSamples = 5
	heapPoll       = 100 * time.Millisecond
)

// memoryOf starts the operator, waits until it has looked at all n applications of a kind and returns what its heap holds
// and what the process occupies.
// The garbage is collected often, so that what is told is what is held.
func memoryOf(ctx context.Context, p *plane, s subject, n int) (heap, rss float64, err error) {
	err = runOperator(ctx, p, func(process *operator.Process) error {
		same, last := 0, 0.0
		for same < settledSamples {
			// Each look at the metrics makes garbage, which leads to the next collection.
			f, err := awaitTurns(ctx, process, s.controller, float64(n))
			if err != nil {
				return err
			}
			heap, rss = f.sum(metricHeap, nil), f.sum(metricRSS, nil)
			if math.Abs(heap-last) <= settledShare*heap {
				same++
			} else {
				same = 0
			}
			last = heap
			select {
			case <-time.After(heapPoll):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}, "GOGC=5")
	return heap, rss, err
}

// starts returns the seconds from the start of the operator to its readiness.
func starts(ctx context.Context, p *plane) ([]float64, error) {
	var out []float64
	for range startSamples {
		start := time.Now()
		err := runOperator(ctx, p, func(*operator.Process) error {
			out = append(out, time.Since(start).Seconds())
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// growth is what objects of others add to the operator's heap.
type growth struct {
	// N is how many objects there are of the kind.
	N    int    `json:"n"`
	Kind string `json:"kind"`
	// BytesEach is what one of them adds.
	BytesEach float64 `json:"bytesEach"`
}

// measureForeign makes objects of others, kind by kind, and returns what they add to the heap.
func measureForeign(ctx context.Context, p *plane, s subject, o options) ([]growth, error) {
	c, err := p.client()
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "foreign-"}}
	if err := c.Create(ctx, namespace); err != nil {
		return nil, err
	}
	before, _, err := memoryOf(ctx, p, s, 0)
	if err != nil {
		return nil, err
	}
	var out []growth
	for _, kind := range foreignKinds {
		err := inParallel(ctx, parallel, o.foreign, func(ctx context.Context, i int) error {
			return c.Create(ctx, kind.make(metav1.ObjectMeta{Namespace: namespace.Name, Name: nameOf(i)}))
		})
		if err != nil {
			return nil, fmt.Errorf("make %ss of others: %w", kind.name, err)
		}
		after, _, err := memoryOf(ctx, p, s, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, growth{N: o.foreign, Kind: kind.name, BytesEach: (after - before) / float64(o.foreign)})
		o.progress("%d %ss of others add %.0f bytes each", o.foreign, kind.name, out[len(out)-1].BytesEach)
		before = after
	}
	return out, nil
}

// foreignKinds are kinds of which a cluster has many objects. The ConfigMaps are as great as that of the cluster's
// certificate authority, which each namespace has.
var foreignKinds = []struct {
	name string
	make func(metav1.ObjectMeta) client.Object
}{
	{"Pod", func(m metav1.ObjectMeta) client.Object { return &corev1.Pod{ObjectMeta: m, Spec: plainPod()} }},
	{"Secret", func(m metav1.ObjectMeta) client.Object {
		return &corev1.Secret{ObjectMeta: m, Data: map[string][]byte{"key": make([]byte, 1024)}}
	}},
	{"Deployment", func(m metav1.ObjectMeta) client.Object {
		labels := map[string]string{"app": m.Name}
		return &appsv1.Deployment{ObjectMeta: m, Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: plainPod()},
		}}
	}},
	{"ConfigMap", func(m metav1.ObjectMeta) client.Object {
		return &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"ca.crt": strings.Repeat("a", 1100)}}
	}},
}

func plainPod() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: imageOf(1)}}}
}
