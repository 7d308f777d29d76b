// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// exposureProblem is why no object is made that exposes the application.
func exposureProblem(f facts) *cause {
	choice := f.workload.ChosenExposure(f.observed)
	c := &cause{phase: appstatus.PhaseDegraded, stalled: true}
	switch choice.Problem {
	case workload.ExposureUnavailable:
		c.reason = appstatus.ReasonExposeUnavailable
		c.message = fmt.Sprintf("The application is not reached from outside: it is to be exposed by a kind that the cluster lacks, %s (%s). Install its API, or choose another spec.expose.type.", choice.Type, choice.Why)
	case workload.ExposureHostMissing:
		c.reason = appstatus.ReasonExposeHostMissing
		c.message = fmt.Sprintf("The application is not reached from outside: without a host it would catch the traffic of others (%s: %s). Set spec.expose.hosts.", choice.Type, choice.Why)
	default:
		return nil
	}
	if f.stopped() {
		return nil
	}
	return c
}

// exposureRefused passes on why a gateway or router does not serve the application.
func exposureRefused(f facts) *cause {
	kind, verdict := f.exposureVerdict()
	if verdict.state != exposureIsRefused {
		return nil
	}
	return &cause{
		reason:  appstatus.ReasonExposeRefused,
		message: quoted(fmt.Sprintf("%s: %s does not serve the %s", f.notReached(kind), verdict.by, kind), verdict.words),
		phase:   appstatus.PhaseDegraded,
	}
}

func exposurePending(f facts) *cause {
	kind, verdict := f.exposureVerdict()
	if verdict.state != exposureIsPending {
		return nil
	}
	message := fmt.Sprintf("%s: no router has taken up the %s yet.", f.notReached(kind), kind)
	if gateway := f.workload.Exposure.Gateway; kind == workload.ExposureHTTPRoute && gateway != nil {
		message = fmt.Sprintf("%s: the Gateway %s/%s has not taken up the %s yet. See whether there is such a Gateway.", f.notReached(kind), gateway.Namespace, gateway.Name, kind)
	}
	return &cause{reason: appstatus.ReasonExposePending, message: message, phase: appstatus.PhaseUpdating, reconciling: true}
}

// notReached says what it means that an object of the kind does not expose the
// application: a former one of another kind serves on until it does.
func (f facts) notReached(kind workload.ExposureType) string {
	for _, former := range []workload.ExposureType{workload.ExposureIngress, workload.ExposureHTTPRoute, workload.ExposureRoute} {
		if former != kind && f.ours(string(former)) != nil {
			return fmt.Sprintf("The change of spec.expose is not carried out, and the %s serves on", former)
		}
	}
	return "The application is not reached from outside"
}

// exposureState is what has become of the object that exposes the application.
type exposureState int

const (
	// exposureServes also stands for what nobody would tell otherwise.
	exposureServes exposureState = iota
	exposureIsPending
	exposureIsRefused
)

// exposureVerdict is what gateways or routers say of the object.
type exposureVerdict struct {
	state exposureState
	// by is who refuses it, and words why.
	by, words string
}

// exposureVerdict returns what is said of the object that exposes the application. An
// Ingress has no place where a controller would say that it serves it or does not.
func (f facts) exposureVerdict() (workload.ExposureType, exposureVerdict) {
	choice := f.workload.ChosenExposure(f.observed)
	if choice.Problem != "" || f.stopped() {
		return choice.Type, exposureVerdict{}
	}
	object := f.ours(string(choice.Type))
	switch choice.Type {
	case workload.ExposureHTTPRoute:
		return choice.Type, httpRouteVerdict(object)
	case workload.ExposureRoute:
		return choice.Type, routeVerdict(object)
	default:
		return choice.Type, exposureVerdict{}
	}
}
