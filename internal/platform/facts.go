// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package platform knows what a cluster is and which of the APIs it has that a cluster
// may lack. It asks the API server for its discovery document, since such an API need not
// be a CustomResourceDefinition: once in a period, and when somebody finds that an API is not
// there.
package platform

import (
	"maps"

	"platformapp/internal/workload"
)

// Facts are what is known of a cluster.
type Facts struct {
	workload.Platform
	// Unknown holds the optional kinds of which the API server could not tell whether they
	// are there: they must not be taken for absent.
	Unknown map[string]bool
}

// Equal tells whether both say the same.
func (f Facts) Equal(other Facts) bool {
	return f.OpenShift == other.OpenShift && maps.Equal(f.Kinds, other.Kinds) && maps.Equal(f.Unknown, other.Unknown)
}

// openShiftGroup makes a cluster an OpenShift. The API server lists this group itself, as
// it decides by its SecurityContextConstraints which user a pod runs as: it is there
// before any pod is, also while the aggregated API servers of OpenShift are away.
const openShiftGroup = "security.openshift.io"

// presence is what a discovery document tells of a kind.
type presence int

const (
	absent presence = iota
	present
	unknown
)

// next returns the facts after a discovery document that tells the presence of kinds.
// Once a cluster is an OpenShift it stays one, because pods of the other kind would be
// another rollout of everything. What the document cannot tell stays as it was.
func (f Facts) next(openShift bool, kinds map[string]presence) Facts {
	out := Facts{
		Platform: workload.Platform{OpenShift: f.OpenShift || openShift, Kinds: map[string]bool{}},
		Unknown:  map[string]bool{},
	}
	for kind, p := range kinds {
		_, wasKnown := f.Kinds[kind]
		switch {
		case p == unknown && !wasKnown:
			out.Unknown[kind] = true
		case p == unknown:
			out.Kinds[kind] = f.Kinds[kind]
		default:
			out.Kinds[kind] = p == present
		}
	}
	return out
}
