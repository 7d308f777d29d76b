// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"go/ast"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const marker = "+operator-sdk:csv:customresourcedefinitions:"

// descriptor is what the operator-sdk marker of a field says.
type descriptor struct {
	part, displayName string
	order             int
	capabilities      []string
}

var markerFormat = regexp.MustCompile(`^type=(spec|status),displayName="([^"]*)"(?:,order=([0-9]+))?(?:,xDescriptors=\{("[^"]*"(?:,"[^"]*")*)\})?$`)

// parseDescriptor returns the descriptor of a field, or nil when it has none.
func parseDescriptor(t *testing.T, doc *ast.CommentGroup) *descriptor {
	t.Helper()
	if doc == nil {
		return nil
	}
	var found *descriptor
	for _, comment := range doc.List {
		text, isMarker := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")), marker)
		if !isMarker {
			continue
		}
		match := markerFormat.FindStringSubmatch(text)
		if match == nil {
			t.Fatalf("cannot read the marker %s%s", marker, text)
		}
		if found != nil {
			t.Fatalf("a field has two markers, the second is %s%s", marker, text)
		}
		found = &descriptor{part: match[1], displayName: match[2]}
		if match[3] != "" {
			found.order, _ = strconv.Atoi(match[3])
		}
		if match[4] != "" {
			found.capabilities = strings.Split(strings.Trim(match[4], `"`), `","`)
		}
	}
	return found
}

// What a capability may stand on.
const (
	scalar = "scalar"
	object = "object"
	list   = "list"
)

// shape returns what of these a schema is.
func (s *schema) shape() string {
	switch s.Type {
	case "object":
		return object
	case "array":
		return list
	default:
		return scalar
	}
}

const (
	urn         = "urn:alm:descriptor:"
	selectValue = urn + "com.tectonic.ui:select:"
	dependency  = urn + "com.tectonic.ui:fieldDependency:"
	resource    = urn + "io.kubernetes:"
	hidden      = urn + "com.tectonic.ui:hidden"

	resourceRequirements = urn + "com.tectonic.ui:resourceRequirements"
)

// capabilities are those that the console knows and has not deprecated, with what each may stand on; any is "".
var capabilities = map[string]map[string]string{
	"spec": {
		urn + "com.tectonic.ui:advanced":        "",
		hidden:                                  "",
		urn + "com.tectonic.ui:podCount":        scalar,
		urn + "com.tectonic.ui:number":          scalar,
		urn + "com.tectonic.ui:text":            scalar,
		urn + "com.tectonic.ui:password":        scalar,
		urn + "com.tectonic.ui:booleanSwitch":   scalar,
		urn + "com.tectonic.ui:checkbox":        scalar,
		urn + "com.tectonic.ui:imagePullPolicy": scalar,
		resourceRequirements:                    object,
		urn + "com.tectonic.ui:updateStrategy":  object,
		urn + "com.tectonic.ui:nodeAffinity":    object,
		urn + "com.tectonic.ui:podAffinity":     object,
		urn + "com.tectonic.ui:podAntiAffinity": object,
		urn + "com.tectonic.ui:endpointList":    list,
	},
	"status": {
		hidden:                              "",
		urn + "com.tectonic.ui:podCount":    scalar,
		urn + "com.tectonic.ui:password":    scalar,
		urn + "com.tectonic.ui:podStatuses": object,
		urn + "org.w3:link":                 scalar,
		urn + "text":                        scalar,
		urn + "prometheusEndpoint":          scalar,
		urn + "io.kubernetes.phase":         scalar,
		urn + "io.kubernetes.phase:reason":  scalar,
		urn + "io.kubernetes.conditions":    list,
	},
}

// capabilityShape returns what a capability may stand on, any being "", and whether the console knows it.
func capabilityShape(part, capability string) (shape string, known bool) {
	shape, known = capabilities[part][capability]
	switch {
	case known:
		return shape, true
	case strings.HasPrefix(capability, resource):
		return scalar, true
	case part == "spec" && strings.HasPrefix(capability, selectValue):
		return scalar, true
	case part == "spec" && strings.HasPrefix(capability, dependency):
		return "", true
	default:
		return "", false
	}
}
