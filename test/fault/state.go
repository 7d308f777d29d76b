// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"platformapp/internal/workload"
)

// State is what there is in a namespace, without what differs from run to run: names that the API server makes up, UIDs,
// versions, times. Two runs that end alike have equal states. Its keys name the objects, its values are JSON.
type State map[string]string

// StateOf returns the state of a namespace. A UID that stands in an object is replaced by the name of the object in the
// namespace that has it, so that a reference to one that is gone shows.
func StateOf(namespace string, v View) (State, error) {
	names := []string{namespace, "<namespace>"}
	for key, object := range v.objects {
		names = append(names, string(object.GetUID()), "<uid of "+key.kind+" "+nameOf(key.kind, object, v.replicaSets)+">")
		if key.kind == "Pod" {
			names = append(names, key.name, nameOf(key.kind, object, v.replicaSets))
		}
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(v.replicaSets))) {
		names = append(names, name, v.replicaSets[name])
	}
	replace := strings.NewReplacer(names...)
	found := map[string][]string{}
	for key, object := range v.objects {
		content := podState(object)
		if key.kind != "Pod" {
			raw, err := json.Marshal(normalised(key.kind, object))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			content = replace.Replace(string(raw))
		}
		name := key.kind + " " + nameOf(key.kind, object, v.replicaSets)
		found[name] = append(found[name], content)
	}
	state := State{}
	for name, contents := range found {
		slices.Sort(contents)
		state[name] = strings.Join(contents, "\n")
	}
	return state, nil
}

func podState(pod *unstructured.Unstructured) string {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	if pod.GetDeletionTimestamp() != nil {
		phase = "Terminating"
	}
	return phase
}

// volatile are the fields of an object's metadata that no two runs share. An object's generation counts the writes of its
// specification, of which a fault may need another one.
var volatile = []string{"uid", "resourceVersion", "creationTimestamp", "generation", "namespace", "deletionTimestamp", "deletionGracePeriodSeconds"}

// normalised returns a copy of an object without what differs from run to run.
func normalised(kind string, object *unstructured.Unstructured) map[string]any {
	o := object.DeepCopy().Object
	metadata, _ := o["metadata"].(map[string]any)
	fields := normalisedFields(object)
	for _, name := range volatile {
		delete(metadata, name)
	}
	metadata["managedFields"] = fields
	if annotations, ok := metadata["annotations"].(map[string]any); ok && annotations[workload.AnnotationAppliedHash] != nil {
		// It is of the owner's UID too.
		annotations[workload.AnnotationAppliedHash] = "<hash>"
	}
	if object.GetDeletionTimestamp() != nil {
		metadata["deletion"] = "under way"
	}
	switch kind {
	case EGApp, DemoMicroService:
		observed(o, object.GetGeneration())
	case "Service":
		normaliseService(o)
	case "ReplicaSet":
		// The control plane copies there what it sees of the Deployment at some time.
		delete(metadata, "annotations")
		delete(metadata, "managedFields")
		for _, path := range [][]string{{"metadata", "labels"}, {"spec", "selector", "matchLabels"}, {"spec", "template", "metadata", "labels"}} {
			unstructured.RemoveNestedField(o, append(path, templateHash)...)
		}
		fallthrough
	case "Deployment":
		status, _ := o["status"].(map[string]any)
		delete(status, "observedGeneration")
		delete(status, "collisionCount") // of names of ReplicaSets, see replicaSetName
		normaliseConditions(status)
	default:
		// It is written by controllers of others, for their own ends.
		delete(o, "status")
	}
	return o
}

// observed replaces the generations that a status names by whether they are the present one, and drops times.
func observed(o map[string]any, generation int64) {
	status, _ := o["status"].(map[string]any)
	if status == nil {
		return
	}
	status["observedGeneration"] = generationName(status["observedGeneration"], generation)
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok {
			condition["observedGeneration"] = generationName(condition["observedGeneration"], generation)
		}
	}
	normaliseConditions(status)
}

func generationName(observed any, generation int64) string {
	if observed == generation {
		return "<present>"
	}
	return fmt.Sprintf("<not the present one: %v>", observed)
}

// normaliseConditions drops the times of conditions and sorts them by type.
func normaliseConditions(status map[string]any) {
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok {
			delete(condition, "lastTransitionTime")
			delete(condition, "lastUpdateTime")
		}
	}
	slices.SortFunc(conditions, func(a, b any) int { return strings.Compare(conditionType(a), conditionType(b)) })
}

func conditionType(condition any) string {
	c, _ := condition.(map[string]any)
	name, _ := c["type"].(string)
	return name
}

// normaliseService drops what the API server allocates.
func normaliseService(o map[string]any) {
	spec, _ := o["spec"].(map[string]any)
	if spec["clusterIP"] != "None" {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	delete(spec, "healthCheckNodePort")
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		if port, ok := p.(map[string]any); ok && port["nodePort"] != nil {
			port["nodePort"] = "<allocated>"
		}
	}
}

// normalisedFields returns who manages which fields, without times. Of what the control plane's own controllers write only
// the fields outside the status count: how many writes they took to their status, and which it has, is theirs.
func normalisedFields(object *unstructured.Unstructured) []any {
	var all []any
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		var fields map[string]any
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			fields = map[string]any{"unreadable": entry.FieldsV1.GetRawString()}
		}
		if strings.HasPrefix(entry.Manager, "kube-") || strings.HasPrefix(entry.Manager, "kwok") {
			delete(fields, "f:status")
			if len(fields) == 0 {
				continue
			}
		}
		all = append(all, map[string]any{
			"manager": entry.Manager, "operation": string(entry.Operation), "subresource": entry.Subresource, "fields": fields,
		})
	}
	slices.SortFunc(all, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return all
}

// revision is the annotation that counts the rollouts of a Deployment.
var revision = regexp.MustCompile(`"deployment.kubernetes.io/revision":"\d+"`)

// WithoutRollouts returns the state without what tells how often pods were rolled out.
func (s State) WithoutRollouts() State {
	rest := State{}
	for key, content := range s {
		if !strings.HasPrefix(key, "ReplicaSet ") {
			rest[key] = revision.ReplaceAllString(content, "")
		}
	}
	return rest
}

// Diff returns how got differs from what is wanted, the state itself, a line or more for each object, or an empty text.
func (s State) Diff(got State) string {
	var text strings.Builder
	keys := map[string]bool{}
	for key := range s {
		keys[key] = true
	}
	for key := range got {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		expected, isExpected := s[key]
		actual, isThere := got[key]
		switch {
		case !isThere:
			fmt.Fprintf(&text, "%s is not there\n", key)
		case !isExpected:
			fmt.Fprintf(&text, "%s is there: %s\n", key, actual)
		case expected != actual:
			fmt.Fprintf(&text, "%s (-reference +plan):\n%s", key, diffOfJSON(expected, actual))
		}
	}
	return text.String()
}
