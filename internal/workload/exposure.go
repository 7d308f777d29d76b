// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	routev1 "github.com/openshift/api/route/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// ExposureProblem is why an application cannot be exposed as it asks.
type ExposureProblem string

// The problems of an exposure.
const (
	// ExposureUnavailable: the cluster lacks the API.
	ExposureUnavailable ExposureProblem = "Unavailable"
	// ExposureHostMissing: without a host it would catch the traffic of others.
	ExposureHostMissing ExposureProblem = "HostMissing"
)

// ExposureChoice is by what an application is exposed.
type ExposureChoice struct {
	// Type is the kind of the object, or empty if the application is not exposed.
	Type ExposureType
	// Why says why it is of that kind.
	Why string
	// Problem keeps the object from being made, or is empty.
	Problem ExposureProblem
}

// ChosenExposure tells by what the workload is exposed. What serves already stays as long
// as the workload leaves the choice open, so that an API that comes to the cluster
// changes nothing for whoever runs. Why names what serves only where something else would
// be chosen without it: what was chosen does not change its reason by coming to serve.
func (w Workload) ChosenExposure(o Observed) ExposureChoice {
	if w.Exposure == nil {
		return ExposureChoice{}
	}
	choice := w.exposureType(o)
	switch {
	case !o.Platform.serves(choice.Type):
		choice.Problem = ExposureUnavailable
	case choice.Type != ExposureRoute && len(w.Exposure.Hosts) == 0:
		choice.Problem = ExposureHostMissing
	}
	return choice
}

// IsExposedBy tells whether the workload is to be exposed by an object of the kind, and
// can be.
func (w Workload) IsExposedBy(kind ExposureType, o Observed) bool {
	if w.Exposure == nil || w.Service == nil {
		return false
	}
	choice := w.ChosenExposure(o)
	return choice.Type == kind && choice.Problem == ""
}

// StillServes tells whether a child of the kind exposes the workload until what is to
// take its place does: a change of kind never leaves a moment with neither. It does not
// look at those that are desired.
func (w Workload) StillServes(kind string, o Observed) bool {
	switch ExposureType(kind) {
	case ExposureIngress, ExposureHTTPRoute, ExposureRoute:
		if w.Exposure == nil || w.Service == nil {
			return false
		}
		choice := w.ChosenExposure(o)
		return choice.Problem != "" || !w.serves(choice.Type, o) || !hasTakenOver(o.Children[string(choice.Type)])
	default:
		return false
	}
}

// serves tells whether an object of the kind exposes the workload.
func (w Workload) serves(kind ExposureType, o Observed) bool {
	object := o.Children[string(kind)]
	return object != nil && o.Platform.serves(kind) && w.Owner.OwnershipOf(object) == Ours
}

// hasTakenOver tells whether an object that exposes the workload does so in place of a
// former one. Of an Ingress nobody tells. A router that refuses a host because the former
// object has it can take the new one up only when that is gone.
func hasTakenOver(object Object) bool {
	switch object := object.(type) {
	case *gatewayv1.HTTPRoute:
		return slices.ContainsFunc(object.Status.Parents, func(parent gatewayv1.RouteParentStatus) bool {
			accepted := meta.FindStatusCondition(parent.Conditions, string(gatewayv1.RouteConditionAccepted))
			return accepted != nil && accepted.Status == metav1.ConditionTrue
		})
	case *routev1.Route:
		for _, ingress := range object.Status.Ingress {
			for _, c := range ingress.Conditions {
				if c.Type == routev1.RouteAdmitted && (c.Status == corev1.ConditionTrue || c.Reason == hostAlreadyClaimed) {
					return true
				}
			}
		}
		return false
	default:
		return true
	}
}

// hostAlreadyClaimed is the reason of OpenShift's router for a host that another Route has,
// that which it makes of an Ingress included.
const hostAlreadyClaimed = "HostAlreadyClaimed"

// serves tells whether the cluster has the API; that of an Ingress is never missing.
func (p Platform) serves(kind ExposureType) bool {
	return kind == ExposureIngress || p.Kinds[string(kind)]
}

// settledBy says which settings are for which kind alone. What the cluster has never decides
// against them: it would drop what was asked for, such as a certificate, without a word.
var settledBy = map[ExposureType]string{
	ExposureHTTPRoute: "expose.httpRoute names a gateway",
	ExposureIngress:   "expose.ingress is given",
	ExposureRoute:     "expose.route is given",
}

func (w Workload) exposureType(o Observed) ExposureChoice {
	e := w.Exposure
	switch {
	case e.Type != ExposureAuto:
		return ExposureChoice{Type: e.Type, Why: "expose.type asks for it"}
	case e.Settled != "":
		return ExposureChoice{Type: e.Settled, Why: settledBy[e.Settled]}
	case !e.fitsRoute():
		return ExposureChoice{Type: ExposureIngress, Why: "a Route has one host and one path"}
	case !o.Platform.serves(ExposureRoute):
		return ExposureChoice{Type: ExposureIngress, Why: "the cluster has no Routes, and no gateway is named"}
	case w.serves(ExposureIngress, o) && !w.serves(ExposureRoute, o):
		return ExposureChoice{Type: ExposureIngress, Why: "an Ingress serves already"}
	default:
		return ExposureChoice{Type: ExposureRoute, Why: "the cluster has Routes"}
	}
}

// fitsRoute tells whether a Route can say it: it has one host and compares one path by
// its beginning.
func (e Exposure) fitsRoute() bool {
	return len(e.Hosts) <= 1 && len(e.Paths) == 1 && !e.Paths[0].Exact
}

// MayBeExposedBy tells whether an object of the kind may expose the workload, whatever the
// cluster has and whatever serves already.
func (w Workload) MayBeExposedBy(kind ExposureType) bool {
	if w.Exposure == nil {
		return false
	}
	for _, hasRoutes := range []bool{false, true} {
		if w.exposureType(Observed{Platform: Platform{Kinds: map[string]bool{string(ExposureRoute): hasRoutes}}}).Type == kind {
			return true
		}
	}
	return false
}
