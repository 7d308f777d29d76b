// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/profile"
)

// probes returns the startup, the readiness and the liveness probe. Without a word in the
// spec there are the first two, by TCP; with a path there are three, by HTTP; without a
// TCP port there are those that the spec gives.
func probes(spec *v1alpha1.EGAppSpec, framework profile.Framework) (startup, readiness, liveness *corev1.Probe) {
	p := spec.Probes
	if p == nil {
		p = &v1alpha1.Probes{}
	}
	inherited := inheritedHandler(spec, p)
	hasPort := inherited != corev1.ProbeHandler{}
	return probe(spec, p.Startup, inherited, framework.Startup, hasPort),
		probe(spec, p.Readiness, inherited, framework.Readiness, hasPort),
		probe(spec, p.Liveness, inherited, framework.Liveness, hasPort && p.Path != "")
}

// inheritedHandler is how a probe asks that does not say it, or nothing without a TCP port.
func inheritedHandler(spec *v1alpha1.EGAppSpec, p *v1alpha1.Probes) corev1.ProbeHandler {
	port := spec.ServingPort(p.Port)
	switch {
	case port == nil:
		return corev1.ProbeHandler{}
	case p.Path != "":
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: p.Path, Port: intstr.FromInt32(port.ContainerPort), Scheme: corev1.URISchemeHTTP}}
	default:
		return corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port.ContainerPort)}}
	}
}

// probe returns one probe: what own leaves out is inherited and the framework's. It is nil
// if own says nothing and the preset has none of the kind.
func probe(spec *v1alpha1.EGAppSpec, own *v1alpha1.Probe, inherited corev1.ProbeHandler, timing profile.ProbeTiming, preset bool) *corev1.Probe {
	if own.IsEmpty() {
		if !preset {
			return nil
		}
		own = &v1alpha1.Probe{}
	}
	handler := inherited
	if own.ProbeHandler != (v1alpha1.ProbeHandler{}) {
		handler = resolvedHandler(spec, own.ProbeHandler)
	}
	return &corev1.Probe{
		ProbeHandler:                  handler,
		InitialDelaySeconds:           valueOr(own.InitialDelaySeconds, 0),
		TimeoutSeconds:                valueOr(own.TimeoutSeconds, timing.TimeoutSeconds),
		PeriodSeconds:                 valueOr(own.PeriodSeconds, timing.PeriodSeconds),
		SuccessThreshold:              valueOr(own.SuccessThreshold, 0),
		FailureThreshold:              valueOr(own.FailureThreshold, timing.FailureThreshold),
		TerminationGracePeriodSeconds: own.TerminationGracePeriodSeconds,
	}
}

// resolvedHandler gives ports by number: of two ports of one number the container has only
// the name of the first.
func resolvedHandler(spec *v1alpha1.EGAppSpec, own v1alpha1.ProbeHandler) corev1.ProbeHandler {
	own = *own.DeepCopy()
	handler := corev1.ProbeHandler{
		Exec: (*corev1.ExecAction)(own.Exec), HTTPGet: (*corev1.HTTPGetAction)(own.HTTPGet), TCPSocket: (*corev1.TCPSocketAction)(own.TCPSocket), GRPC: own.GRPC,
	}
	number := func(port *intstr.IntOrString) {
		if port.Type == intstr.String {
			*port = intstr.FromInt32(spec.ServingPort(port.StrVal).ContainerPort)
		}
	}
	if get := handler.HTTPGet; get != nil {
		number(&get.Port)
		if get.Path == "" {
			get.Path = "/"
		}
		if get.Scheme == "" {
			get.Scheme = corev1.URISchemeHTTP
		}
	}
	if socket := handler.TCPSocket; socket != nil {
		number(&socket.Port)
	}
	return handler
}
