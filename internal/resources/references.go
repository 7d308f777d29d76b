// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"platformapp/internal/workload"
)

// generatedUse returns the part of the generated pods that refers to objects of others.
func generatedUse(w workload.Workload) corev1.PodSpec {
	container := corev1.Container{Name: w.Container.Name, Env: w.Container.Env, EnvFrom: w.Container.EnvFrom}
	var pod corev1.PodSpec
	for _, file := range w.Files {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: volumeName(file), VolumeSource: file.Source})
	}
	pod.Containers = []corev1.Container{container}
	return pod
}

// referencesOf returns the objects of others that the pods of a workload use.
func referencesOf(w workload.Workload, pod corev1.PodSpec) workload.References {
	used := configMapUses{}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		used.addContainer(c)
	}
	for _, volume := range pod.Volumes {
		used.addVolume(volume.VolumeSource)
	}
	// The preset's variables are the operator's own, and have a hash of their own.
	delete(used, runtimeEnvName(w.Owner))
	return workload.References{
		ConfigMaps:     used.references(),
		Claims:         claimsOf(pod),
		ServiceAccount: w.ServiceAccountName,
	}
}

// configMapUses gathers, by the name of a ConfigMap, what is used of it.
type configMapUses map[string]*configMapUse

type configMapUse struct {
	required, optional map[string]bool
	// all tells that every key is used.
	all bool
	// needed tells that a use does not allow the ConfigMap to be missing.
	needed bool
}

func (u configMapUses) addContainer(c corev1.Container) {
	for _, v := range c.Env {
		if v.ValueFrom != nil && v.ValueFrom.ConfigMapKeyRef != nil {
			ref := v.ValueFrom.ConfigMapKeyRef
			u.add(ref.Name, ref.Optional, ref.Key)
		}
	}
	for _, source := range c.EnvFrom {
		if ref := source.ConfigMapRef; ref != nil {
			u.add(ref.Name, ref.Optional)
		}
	}
}

func (u configMapUses) addVolume(source corev1.VolumeSource) {
	if ref := source.ConfigMap; ref != nil {
		u.add(ref.Name, ref.Optional, keysOf(ref.Items)...)
	}
	if source.Projected == nil {
		return
	}
	for _, part := range source.Projected.Sources {
		if ref := part.ConfigMap; ref != nil {
			u.add(ref.Name, ref.Optional, keysOf(ref.Items)...)
		}
	}
}

// add notes that keys of a ConfigMap are used, or all of them if none is named.
func (u configMapUses) add(name string, optional *bool, keys ...string) {
	if u[name] == nil {
		u[name] = &configMapUse{required: map[string]bool{}, optional: map[string]bool{}}
	}
	use := u[name]
	isOptional := optional != nil && *optional
	use.needed = use.needed || !isOptional
	use.all = use.all || len(keys) == 0
	for _, key := range keys {
		if isOptional {
			use.optional[key] = true
		} else {
			use.required[key] = true
		}
	}
}

func (u configMapUses) references() []workload.ConfigMapReference {
	var references []workload.ConfigMapReference
	for _, name := range slices.Sorted(maps.Keys(u)) {
		use := u[name]
		maps.DeleteFunc(use.optional, func(key string, _ bool) bool { return use.required[key] })
		references = append(references, workload.ConfigMapReference{
			Name:         name,
			Keys:         slices.Sorted(maps.Keys(use.required)),
			OptionalKeys: slices.Sorted(maps.Keys(use.optional)),
			All:          use.all,
			Optional:     !use.needed,
		})
	}
	return references
}

func keysOf(items []corev1.KeyToPath) []string {
	var keys []string
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	return keys
}

// claimsOf returns the names of the claims whose volumes the pods need on their node. A
// volume that is only read, or that no container mounts, is attached to the node as well.
func claimsOf(pod corev1.PodSpec) []string {
	claims := map[string]bool{}
	for _, volume := range pod.Volumes {
		if claim := volume.PersistentVolumeClaim; claim != nil {
			claims[claim.ClaimName] = true
		}
	}
	return slices.Sorted(maps.Keys(claims))
}
