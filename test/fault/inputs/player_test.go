// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"encoding/json"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// players is how many statuses are written at once.
const players = 8

// player plays the controllers that are not there: it marks Deployments as rolled out, and routes as taken up.
type player struct {
	client client.Client
	mu     sync.Mutex
	// latest are the objects whose status is to be written, by kind, namespace and name.
	latest map[string]*unstructured.Unstructured
	due    chan string
	done   sync.WaitGroup
}

func newPlayer(ctx context.Context, c client.Client) *player {
	p := &player{client: c, latest: map[string]*unstructured.Unstructured{}, due: make(chan string, 100_000)}
	for range players {
		p.done.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case id := <-p.due:
					p.play(ctx, id)
				}
			}
		})
	}
	return p
}

// see takes note of an object that may need a status.
func (p *player) see(object *unstructured.Unstructured) {
	if statusOf(object) == nil {
		return
	}
	id := object.GetKind() + "/" + object.GetNamespace() + "/" + object.GetName()
	p.mu.Lock()
	p.latest[id] = object
	p.mu.Unlock()
	p.due <- id
}

func (p *player) play(ctx context.Context, id string) {
	p.mu.Lock()
	object := p.latest[id]
	delete(p.latest, id)
	p.mu.Unlock()
	if object == nil {
		return
	}
	patch, err := json.Marshal(map[string]any{"status": statusOf(object)})
	if err != nil {
		return
	}
	// What has changed or is gone by now is seen again.
	_ = p.client.Status().Patch(ctx, object.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
}

// statusOf returns the status that an object's controller would give it, or nil if it has it.
func statusOf(object *unstructured.Unstructured) map[string]any {
	now := metav1.Now().UTC().Format("2006-01-02T15:04:05Z")
	switch object.GetKind() {
	case "Deployment":
		observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		if observed == object.GetGeneration() {
			return nil
		}
		count, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
		condition := func(conditionType, reason string) map[string]any {
			return map[string]any{
				"type": conditionType, "status": "True", "reason": reason, "lastUpdateTime": now, "lastTransitionTime": now,
			}
		}
		return map[string]any{
			"observedGeneration": object.GetGeneration(),
			"replicas":           count, "updatedReplicas": count, "readyReplicas": count, "availableReplicas": count,
			"conditions": []any{
				condition("Available", "MinimumReplicasAvailable"), condition("Progressing", "NewReplicaSetAvailable"),
			},
		}
	case "HTTPRoute":
		references, _, _ := unstructured.NestedSlice(object.Object, "spec", "parentRefs")
		if text(references) == text(parentsOf(object)) {
			return nil
		}
		var parents []any
		for _, reference := range references {
			parents = append(parents, map[string]any{
				"parentRef": reference, "controllerName": "example.com/gateway",
				"conditions": []any{map[string]any{
					"type": "Accepted", "status": "True", "reason": "Accepted", "message": "", "lastTransitionTime": now,
				}},
			})
		}
		return map[string]any{"parents": parents}
	case "Route":
		host, _, _ := unstructured.NestedString(object.Object, "spec", "host")
		routers, _, _ := unstructured.NestedSlice(object.Object, "status", "ingress")
		if len(routers) > 0 && routers[0].(map[string]any)["host"] == host {
			return nil
		}
		return map[string]any{"ingress": []any{map[string]any{
			"host": host, "routerName": "default", "conditions": []any{map[string]any{"type": "Admitted", "status": "True"}},
		}}}
	}
	return nil
}

// parentsOf returns the gateways that have taken up an HTTPRoute.
func parentsOf(object *unstructured.Unstructured) []any {
	parents, _, _ := unstructured.NestedSlice(object.Object, "status", "parents")
	var references []any
	for _, parent := range parents {
		references = append(references, parent.(map[string]any)["parentRef"])
	}
	return references
}
