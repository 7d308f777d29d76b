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
// items do not count, and returns them sorted, each once. An empty list means all.
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
	slices.Sort(namespaces)
	return slices.Compact(namespaces), nil
}
