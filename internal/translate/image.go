// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// imageErrors tells why no runtime can pull the image, by the grammar of references
// that the runtimes use.
func imageErrors(path *field.Path, image string) field.ErrorList {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return field.ErrorList{field.Invalid(path, image, "must be an image reference such as registry.example.com/team/app:1.2: "+err.Error())}
	}
	return nil
}
