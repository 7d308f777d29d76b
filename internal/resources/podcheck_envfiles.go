// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"platformapp/internal/workload"
)

// checkEnvFiles refuses variables from files of volumes that the pods do not have, or that
// are no scratch space: the API server takes them from an emptyDir alone.
func checkEnvFiles(w workload.Workload, containers []corev1.Container, volumes []corev1.Volume) field.ErrorList {
	var errs field.ErrorList
	for _, c := range containers {
		for _, v := range c.Env {
			if v.ValueFrom == nil || v.ValueFrom.FileKeyRef == nil {
				continue
			}
			name := v.ValueFrom.FileKeyRef.VolumeName
			i := slices.IndexFunc(volumes, func(volume corev1.Volume) bool { return volume.Name == name })
			switch {
			case i < 0:
				errs = append(errs, field.Invalid(envFilePath(w, c, v), name, fmt.Sprintf(
					"the variable %s of the container %s is in a file of this volume, but the pods have none of this name", v.Name, c.Name)))
			case volumes[i].EmptyDir == nil:
				errs = append(errs, field.Invalid(envFilePath(w, c, v), name, fmt.Sprintf(
					"the variable %s of the container %s is in a file of this volume, which must be an emptyDir", v.Name, c.Name)))
			}
		}
	}
	return errs
}

// envFilePath returns the field that names the volume: of the application, or else of the
// patch.
func envFilePath(w workload.Workload, c corev1.Container, v corev1.EnvVar) *field.Path {
	if c.Name == w.Container.Name {
		for i, own := range w.Container.Env {
			if equality.Semantic.DeepEqual(own, v) {
				return field.NewPath("spec", "env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName")
			}
		}
	}
	return patchPath.Child("spec", "volumes")
}
