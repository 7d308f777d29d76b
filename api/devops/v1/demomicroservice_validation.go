// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// IsValid returns every rule that the object breaks, each with its field, or nil. It
// repeats the rules of the schema, for objects that were stored before a rule came.
func (d *DemoMicroService) IsValid() field.ErrorList {
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1035Label(d.Name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), d.Name, msg))
	}
	if d.Spec.Image == "" {
		errs = append(errs, field.Required(field.NewPath("spec", "image"), "the image to run"))
	}
	return errs
}
