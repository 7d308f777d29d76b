// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"platformapp/internal/workload"
)

// merge returns the generated pods with the patch over them. Both are used up.
func (p *patch) merge(w workload.Workload, generated map[string]any) (map[string]any, error) {
	spec, patchSpec := objectAt(generated, "spec"), objectAt(p.document, "spec")
	container := itemNamed(spec["containers"], w.Container.Name)
	patchContainer := itemNamed(patchSpec["containers"], w.Container.Name)

	replaceOneOfs(spec, patchSpec, container, patchContainer)
	// These lists a strategic merge does not tell apart as pods do: they are merged here.
	take(container, patchContainer, "ports", mergePorts)
	take(spec, patchSpec, "topologySpreadConstraints", mergeConstraints)
	names := namesOf(container["env"])

	merged, err := strategicpatch.StrategicMergeMapPatch(generated, p.document, corev1.PodTemplateSpec{})
	if err != nil {
		return nil, err
	}
	if container := itemNamed(objectAt(merged, "spec")["containers"], w.Container.Name); container["env"] != nil {
		container["env"] = inOrder(container["env"], names)
	}
	return merged, nil
}

// take merges a list of the patch into the generated one and takes it out of the patch; null
// leaves the list out.
func take(generated, patched map[string]any, name string, merge func(generated, patched []map[string]any) []map[string]any) {
	list, given := patched[name]
	if !given {
		return
	}
	delete(patched, name)
	if list == nil {
		delete(generated, name)
		return
	}
	var merged []any
	for _, item := range merge(itemsOf(generated[name]), itemsOf(list)) {
		merged = append(merged, item)
	}
	generated[name] = merged
}

// mergePorts merges container ports by number and protocol.
func mergePorts(generated, patched []map[string]any) []map[string]any {
	for _, port := range patched {
		port["protocol"] = protocolOf(port)
		i := slices.IndexFunc(generated, func(g map[string]any) bool {
			return g["containerPort"] == port["containerPort"] && protocolOf(g) == port["protocol"]
		})
		if i < 0 {
			generated = append(generated, port)
			continue
		}
		maps.Copy(generated[i], port)
	}
	return generated
}

// protocolOf returns the protocol of a port, which is TCP where it is left out.
func protocolOf(port map[string]any) any {
	if protocol := port["protocol"]; protocol != nil && protocol != "" {
		return protocol
	}
	return string(corev1.ProtocolTCP)
}

// mergeConstraints puts the patch's topology spread constraints in the place of the
// generated ones with the same topology key.
func mergeConstraints(generated, patched []map[string]any) []map[string]any {
	kept := slices.DeleteFunc(generated, func(g map[string]any) bool {
		return slices.ContainsFunc(patched, func(p map[string]any) bool { return p["topologyKey"] == g["topologyKey"] })
	})
	return append(kept, patched...)
}

// namesOf returns the names of the items of a list.
func namesOf(list any) []any {
	var names []any
	for _, item := range itemsOf(list) {
		names = append(names, item["name"])
	}
	return names
}

// inOrder returns a list with the items of these names first, in the order of the names, and
// the others after them, in the order that they have.
func inOrder(list any, names []any) []any {
	rank := func(item any) int {
		object, _ := item.(map[string]any)
		if i := slices.Index(names, object["name"]); i >= 0 {
			return i
		}
		return len(names)
	}
	items, _ := list.([]any)
	slices.SortStableFunc(items, func(a, b any) int { return rank(a) - rank(b) })
	return items
}
