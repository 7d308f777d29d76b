// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// readAs returns another form of a part of the API that has the same serialization, such as
// the apply configuration of a struct: of the fields that are set and of no others.
func readAs[T any](part any) *T {
	form := new(T)
	serialized, err := json.Marshal(part)
	if err == nil {
		err = json.Unmarshal(serialized, form)
	}
	if err != nil {
		// Both are types of the Kubernetes API, and part was read from JSON.
		panic(fmt.Sprintf("read %T as %T: %v", part, form, err))
	}
	return form
}

// The server's defaults for how long a token and a certificate in a volume are valid.
const (
	defaultTokenExpirationSeconds       = 3600
	defaultCertificateExpirationSeconds = 86400
)

// completeAtomic adds the server's defaults to what server-side apply owns as a whole: a
// field that is left out of it would be a difference from the live object for ever.
func completeAtomic(spec *corev1ac.PodSpecApplyConfiguration) {
	for _, containers := range [][]corev1ac.ContainerApplyConfiguration{spec.InitContainers, spec.Containers} {
		for _, c := range containers {
			for _, v := range c.Env {
				completeEnvVarSource(v.ValueFrom)
			}
		}
	}
	for _, volume := range spec.Volumes {
		if volume.DownwardAPI != nil {
			completeDownwardAPI(volume.DownwardAPI.Items)
		}
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			completeProjection(source)
		}
	}
}

func completeEnvVarSource(from *corev1ac.EnvVarSourceApplyConfiguration) {
	if from == nil {
		return
	}
	completeFieldRef(from.FieldRef)
	completeResourceFieldRef(from.ResourceFieldRef)
	if from.FileKeyRef != nil && from.FileKeyRef.Optional == nil {
		from.FileKeyRef.WithOptional(false)
	}
}

func completeProjection(source corev1ac.VolumeProjectionApplyConfiguration) {
	if source.DownwardAPI != nil {
		completeDownwardAPI(source.DownwardAPI.Items)
	}
	if token := source.ServiceAccountToken; token != nil && token.ExpirationSeconds == nil {
		token.WithExpirationSeconds(defaultTokenExpirationSeconds)
	}
	if certificate := source.PodCertificate; certificate != nil && certificate.MaxExpirationSeconds == nil {
		certificate.WithMaxExpirationSeconds(defaultCertificateExpirationSeconds)
	}
}

func completeDownwardAPI(items []corev1ac.DownwardAPIVolumeFileApplyConfiguration) {
	for _, item := range items {
		completeFieldRef(item.FieldRef)
		completeResourceFieldRef(item.ResourceFieldRef)
	}
}

func completeFieldRef(ref *corev1ac.ObjectFieldSelectorApplyConfiguration) {
	if ref != nil && ref.APIVersion == nil {
		ref.WithAPIVersion("v1")
	}
}

func completeResourceFieldRef(ref *corev1ac.ResourceFieldSelectorApplyConfiguration) {
	if ref != nil && ref.Divisor == nil {
		ref.WithDivisor(resource.Quantity{})
	}
}
