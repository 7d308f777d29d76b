// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"platformapp/internal/workload"
)

const (
	// tmpVolume is the writable /tmp beside a read-only root.
	tmpVolume = "tmp"
	tmpPath   = "/tmp"

	// maxVolumeNameStem leaves room for '-' and the hash in a DNS label.
	maxVolumeNameStem = 54
	volumeHashLength  = 8
)

// volumes returns what the files are mounted from, in alphabetical order, and /tmp: the order
// of the files does not matter. Files of the same source share a volume.
func volumes(w workload.Workload) []*corev1ac.VolumeApplyConfiguration {
	sources := map[string]corev1.VolumeSource{}
	for _, file := range w.Files {
		sources[volumeName(file)] = file.Source
	}
	var rendered []*corev1ac.VolumeApplyConfiguration
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		volume := corev1ac.Volume().WithName(name)
		volume.VolumeSourceApplyConfiguration = *readAs[corev1ac.VolumeSourceApplyConfiguration](sources[name])
		rendered = append(rendered, volume)
	}
	if hasOwnTmp(w) {
		rendered = append(rendered, corev1ac.Volume().WithName(tmpVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	}
	return rendered
}

// volumeMounts returns where the files are mounted, in the order of the paths.
func volumeMounts(w workload.Workload) []*corev1ac.VolumeMountApplyConfiguration {
	var mounts []*corev1ac.VolumeMountApplyConfiguration
	for _, file := range w.Files {
		mount := corev1ac.VolumeMount().WithName(volumeName(file)).WithMountPath(file.MountPath)
		if file.SubPath != "" {
			mount.WithSubPath(file.SubPath)
		}
		if file.ReadOnly {
			mount.WithReadOnly(true)
		}
		mounts = append(mounts, mount)
	}
	if hasOwnTmp(w) {
		mounts = append(mounts, corev1ac.VolumeMount().WithName(tmpVolume).WithMountPath(tmpPath))
	}
	slices.SortFunc(mounts, func(a, b *corev1ac.VolumeMountApplyConfiguration) int {
		return cmp.Compare(*a.MountPath, *b.MountPath)
	})
	return mounts
}

// hasOwnTmp tells whether /tmp has to be made writable: programs expect it to be.
func hasOwnTmp(w workload.Workload) bool {
	return w.Container.ReadOnlyRoot &&
		!slices.ContainsFunc(w.Files, func(f workload.File) bool { return path.Clean(f.MountPath) == tmpPath })
}

// volumeName makes a DNS label of what a file is mounted from. Scratch space is each
// file's own: its name also depends on where it is mounted.
func volumeName(file workload.File) string {
	stem, identity := "scratch", any([]any{file.MountPath, file.Source})
	switch source := file.Source; {
	case source.ConfigMap != nil:
		stem, identity = "configmap-"+source.ConfigMap.Name, source
	case source.Secret != nil:
		stem, identity = "secret-"+source.Secret.SecretName, source
	case source.PersistentVolumeClaim != nil:
		stem, identity = "claim-"+source.PersistentVolumeClaim.ClaimName, source
	}
	serialized, err := json.Marshal(identity)
	if err != nil {
		panic(fmt.Sprintf("serialize a volume source: %v", err)) // it was read from JSON
	}
	stem = workload.ContainerName(stem[:min(len(stem), maxVolumeNameStem)], "file")
	return stem + "-" + workload.ValueHash(serialized)[:volumeHashLength]
}
