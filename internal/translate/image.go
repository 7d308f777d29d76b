// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
	"platformapp/internal/workload"
)

// imageErrors tells why no runtime can pull the image.
func imageErrors(path *field.Path, image string) field.ErrorList {
	if err := workload.CheckImage(image); err != nil {
		return field.ErrorList{field.Invalid(path, image, err.Error())}
	}
	return nil
}

// CheckDefaultImages returns an error for every default image that no runtime can pull, by the environment
// variable that a platform sets it with, for example RELATED_IMAGE_JAVA.
func CheckDefaultImages(images profile.Images) field.ErrorList {
	var errs field.ErrorList
	for _, framework := range v1alpha1.Frameworks() {
		errs = append(errs, imageErrors(field.NewPath("RELATED_IMAGE_"+strings.ToUpper(string(framework))), images.For(framework))...)
	}
	return errs
}
