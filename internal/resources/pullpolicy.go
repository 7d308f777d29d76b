// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"platformapp/internal/workload"
)

// completePullPolicies adds when images are pulled to the containers that do not say it, as the API server does. That does
// it when a container is made and not again: one that comes from a tag to none would run an image of yesterday for ever.
func completePullPolicies(spec *corev1ac.PodSpecApplyConfiguration) {
	for _, containers := range [][]corev1ac.ContainerApplyConfiguration{spec.InitContainers, spec.Containers} {
		for i := range containers {
			if c := &containers[i]; c.ImagePullPolicy == nil && c.Image != nil {
				c.WithImagePullPolicy(workload.DefaultPullPolicy(*c.Image))
			}
		}
	}
}
