// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
)

// CheckImage tells why no runtime can pull an image, by the grammar of references that the
// runtimes use; the error goes on from the name of the field.
func CheckImage(image string) error {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return fmt.Errorf("must be an image reference such as registry.example.com/team/app:1.2: %w", err)
	}
	return nil
}

// DefaultPullPolicy returns when an image is pulled for a container that does not say it, as the API server decides it: always
// without a tag and a digest, and with the tag latest, else only where it is missing.
func DefaultPullPolicy(image string) corev1.PullPolicy {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return corev1.PullIfNotPresent
	}
	tagged, hasTag := named.(reference.Tagged)
	if reference.IsNameOnly(named) || hasTag && tagged.Tag() == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// SameRepository tells whether two images differ in tag and digest at most.
func SameRepository(a, b string) bool {
	if a == b {
		return true
	}
	nameOf := func(image string) string {
		named, err := reference.ParseNormalizedNamed(image)
		if err != nil {
			return image
		}
		return named.Name()
	}
	return nameOf(a) == nameOf(b)
}

// ImageToRun returns the image of the application's container. A default that nobody has
// chosen takes the place of no other: where the operator is without its configuration for a
// moment, as while OLM upgrades or installs it, an application that runs a default of the
// platform goes on with that.
func (w Workload) ImageToRun(o Observed) string {
	live := o.Deployment()
	if !w.Container.IsDemonstration || live == nil || w.Owner.OwnershipOf(live) != Ours {
		return w.Container.Image
	}
	template := live.Spec.Template
	isMain := func(c corev1.Container) bool { return c.Name == template.Annotations[AnnotationDefaultContainer] }
	main := slices.IndexFunc(template.Spec.Containers, isMain)
	if main < 0 || live.Annotations[AnnotationDefaultImage] != w.Container.defaultImage(template.Spec.Containers[main].Image) {
		return w.Container.Image
	}
	return template.Spec.Containers[main].Image
}

// DefaultImage returns what AnnotationDefaultImage says; empty where the application names
// its image.
func (c Container) DefaultImage() string { return c.defaultImage(c.Image) }

func (c Container) defaultImage(image string) string {
	if c.DefaultOf == "" {
		return ""
	}
	return c.DefaultOf + "=" + image
}
