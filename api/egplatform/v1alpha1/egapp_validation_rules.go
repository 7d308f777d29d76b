// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules that many fields share.

// invalid makes an error of each message about a value.
func invalid(path *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// oneOf refuses all values but the allowed ones.
func oneOf[T ~string](path *field.Path, value T, allowed []T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, fmt.Sprintf("give one of %q", allowed))}
	}
	return optionalOneOf(path, value, allowed)
}

// optionalOneOf refuses all values but the allowed ones and none.
func optionalOneOf[T ~string](path *field.Path, value T, allowed []T) field.ErrorList {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, allowed)}
}

// atLeast refuses a number below least.
func atLeast[T int32 | int64](path *field.Path, value *T, least T) field.ErrorList {
	if value == nil || *value >= least {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("must be greater than or equal to %d", least))}
}

// atMost refuses a list of more items than the schema admits.
func atMost(path *field.Path, items, most int) field.ErrorList {
	if items <= most {
		return nil
	}
	return field.ErrorList{field.TooMany(path, items, most)}
}

// noLongerThan refuses a text of more bytes than the schema admits characters.
func noLongerThan(path *field.Path, text string, most int) field.ErrorList {
	if len(text) <= most {
		return nil
	}
	return field.ErrorList{field.TooLong(path, text, most)}
}

// longestArgument is the number of bytes that Linux passes to a program in one argument or
// variable, at most (MAX_ARG_STRLEN, https://man7.org/linux/man-pages/man2/execve.2.html).
const longestArgument = 131072

// commandLine judges a command or its arguments.
func commandLine(path *field.Path, arguments []string) field.ErrorList {
	errs := atMost(path, len(arguments), 256)
	for i, argument := range arguments {
		errs = append(errs, noLongerThan(path.Index(i), argument, longestArgument)...)
	}
	return errs
}

// objectName judges the name of an object that is referred to and must be given.
func objectName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "give the name of an object of this namespace")}
	}
	return optionalObjectName(path, name)
}

// optionalObjectName judges the name of an object that may be referred to.
func optionalObjectName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return nil
	}
	return invalid(path, name, validation.IsDNS1123Subdomain(name))
}

// namespaceName judges the name of a namespace that may be referred to.
func namespaceName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return nil
	}
	return invalid(path, name, validation.IsDNS1123Label(name))
}

// exactlyOne refuses an object in which another number than one of the fields is given.
func exactlyOne(path *field.Path, given int, fields string) field.ErrorList {
	switch given {
	case 0:
		return field.ErrorList{field.Required(path, "give one of "+fields)}
	case 1:
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "only one of "+fields+" may be given")}
}
