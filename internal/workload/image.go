// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	"github.com/distribution/reference"
)

// CheckImage tells why no runtime can pull an image, by the grammar of references that the
// runtimes use; the error goes on from the name of the field.
func CheckImage(image string) error {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return fmt.Errorf("must be an image reference such as registry.example.com/team/app:1.2: %w", err)
	}
	return nil
}
