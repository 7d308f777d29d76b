// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// IsEmpty tells whether a probe says nothing; then it is as if it were left out.
func (p *Probe) IsEmpty() bool { return p == nil || *p == Probe{} }

// validateProbes judges the probes and the ports that they ask.
func validateProbes(path *field.Path, s *EGAppSpec) field.ErrorList {
	p := s.Probes
	if p == nil {
		return nil
	}
	var errs field.ErrorList
	if s.IsWorker() && p.Port != "" {
		errs = append(errs, field.Forbidden(path.Child("port"), worker))
	} else {
		errs = append(errs, validatePortReference(path.Child("port"), p.Port, s)...)
	}
	if p.Path != "" {
		errs = append(errs, noLongerThan(path.Child("path"), p.Path, 1024)...)
		switch {
		case s.IsWorker():
			errs = append(errs, field.Forbidden(path.Child("path"), worker))
		case s.ServingPort("") == nil:
			errs = append(errs, field.Forbidden(path.Child("path"), "must be left out without a TCP port in spec.ports: nothing speaks HTTP"))
		case !strings.HasPrefix(p.Path, "/"):
			errs = append(errs, field.Invalid(path.Child("path"), p.Path, "must begin with '/'"))
		}
	}
	for _, kind := range []struct {
		name  string
		probe *Probe
	}{{"liveness", p.Liveness}, {"readiness", p.Readiness}, {"startup", p.Startup}} {
		if !kind.probe.IsEmpty() {
			errs = append(errs, validateProbe(path.Child(kind.name), kind.name, kind.probe, s)...)
		}
	}
	return errs
}

func validateProbe(path *field.Path, kind string, p *Probe, s *EGAppSpec) field.ErrorList {
	errs := validateProbeHandler(path, &p.ProbeHandler, s)
	errs = append(errs, atLeast(path.Child("initialDelaySeconds"), p.InitialDelaySeconds, 0)...)
	errs = append(errs, atLeast(path.Child("timeoutSeconds"), p.TimeoutSeconds, 1)...)
	errs = append(errs, atLeast(path.Child("periodSeconds"), p.PeriodSeconds, 1)...)
	errs = append(errs, atLeast(path.Child("failureThreshold"), p.FailureThreshold, 1)...)
	errs = append(errs, atLeast(path.Child("terminationGracePeriodSeconds"), p.TerminationGracePeriodSeconds, 1)...)
	if kind == "readiness" {
		if p.TerminationGracePeriodSeconds != nil {
			errs = append(errs, field.Forbidden(path.Child("terminationGracePeriodSeconds"), "must be left out for readiness, which ends no container"))
		}
		return append(errs, atLeast(path.Child("successThreshold"), p.SuccessThreshold, 1)...)
	}
	if n := p.SuccessThreshold; n != nil && *n != 1 {
		errs = append(errs, field.Invalid(path.Child("successThreshold"), *n, "must be 1 for "+kind))
	}
	return errs
}

// validateProbeHandler judges the way that a probe asks.
func validateProbeHandler(path *field.Path, h *ProbeHandler, s *EGAppSpec) field.ErrorList {
	var errs field.ErrorList
	given := 0
	if h.Exec != nil {
		given++
		if len(h.Exec.Command) == 0 {
			errs = append(errs, field.Required(path.Child("exec", "command"), "give the command to run"))
		}
		errs = append(errs, commandLine(path.Child("exec", "command"), h.Exec.Command)...)
	}
	if h.HTTPGet != nil {
		given++
		errs = append(errs, validateHTTPGet(path.Child("httpGet"), h.HTTPGet, s)...)
	}
	if h.TCPSocket != nil {
		given++
		errs = append(errs, validateProbePort(path.Child("tcpSocket", "port"), h.TCPSocket.Port, s)...)
		errs = append(errs, noLongerThan(path.Child("tcpSocket", "host"), h.TCPSocket.Host, 1024)...)
	}
	if h.GRPC != nil {
		given++
		errs = append(errs, portNumber(path.Child("grpc", "port"), h.GRPC.Port)...)
	}
	switch {
	case given > 1:
		errs = append(errs, field.Forbidden(path, "at most one of exec, httpGet, tcpSocket and grpc may be given"))
	case given == 0 && s.ServingPort("") == nil:
		errs = append(errs, field.Required(path, "give one of exec, httpGet, tcpSocket and grpc: without a TCP port there is no way to ask that it could inherit"))
	}
	return errs
}

func validateHTTPGet(path *field.Path, get *HTTPGetAction, s *EGAppSpec) field.ErrorList {
	errs := validateProbePort(path.Child("port"), get.Port, s)
	errs = append(errs, optionalOneOf(path.Child("scheme"), get.Scheme, []corev1.URIScheme{corev1.URISchemeHTTP, corev1.URISchemeHTTPS})...)
	errs = append(errs, noLongerThan(path.Child("path"), get.Path, 8192)...)
	errs = append(errs, noLongerThan(path.Child("host"), get.Host, 1024)...)
	errs = append(errs, atMost(path.Child("httpHeaders"), len(get.HTTPHeaders), 64)...)
	for i, header := range get.HTTPHeaders {
		errs = append(errs, invalid(path.Child("httpHeaders").Index(i).Child("name"), header.Name, validation.IsHTTPHeaderName(header.Name))...)
	}
	return errs
}

// validateProbePort judges a port by number, which need not be in spec.ports, or by name.
func validateProbePort(path *field.Path, port intstr.IntOrString, s *EGAppSpec) field.ErrorList {
	switch {
	case port.Type == intstr.Int:
		return portNumber(path, port.IntVal)
	case port.StrVal == "":
		return field.ErrorList{field.Required(path, "give the number or the name of a port")}
	}
	return validatePortReference(path, port.StrVal, s)
}
