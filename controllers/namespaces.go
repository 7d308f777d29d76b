// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// ParseNamespaces reads a comma-separated list of namespaces, in which blanks and empty
// items do not count, and returns them sorted, each once. A blank list means all; one of
// nothing but commas names none, which is an error.
func ParseNamespaces(list string) ([]string, error) {
	var namespaces []string
	for item := range strings.SplitSeq(list, ",") {
		namespace := strings.TrimSpace(item)
		if namespace == "" {
			continue
		}
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			return nil, fmt.Errorf("%q is not the name of a namespace: %s", namespace, strings.Join(problems, "; "))
		}
		namespaces = append(namespaces, namespace)
	}
	if len(namespaces) == 0 && strings.TrimSpace(list) != "" {
		return nil, fmt.Errorf("%q names no namespace; leave it empty for all", list)
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces), nil
}
