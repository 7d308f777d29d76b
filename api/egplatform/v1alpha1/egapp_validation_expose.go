// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"net/netip"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateExpose judges what can be judged without knowing what the cluster has.
func validateExpose(path *field.Path, s *EGAppSpec) field.ErrorList {
	e := s.Expose
	if e == nil {
		return nil
	}
	if s.IsWorker() {
		return field.ErrorList{field.Forbidden(path, worker)}
	}
	errs := optionalOneOf(path.Child("type"), e.Type, []ExposeType{ExposeTypeAuto, ExposeTypeIngress, ExposeTypeHTTPRoute, ExposeTypeRoute})
	errs = append(errs, validateHosts(path.Child("hosts"), e)...)
	errs = append(errs, validateExposePaths(path.Child("paths"), e)...)
	errs = append(errs, validatePortReference(path.Child("port"), e.Port, s)...)
	if s.ServingPort("") == nil {
		errs = append(errs, field.Forbidden(path, "must be left out without a TCP port in spec.ports: HTTP is spoken over TCP"))
	}
	errs = append(errs, validateIngress(path.Child("ingress"), e.Ingress)...)
	errs = append(errs, validateHTTPRoute(path.Child("httpRoute"), e)...)
	return append(errs, validateRoute(path.Child("route"), e)...)
}

// SettledType returns the kind that exposes the application for certain, or nothing if what
// the cluster has decides: with the type Auto that is the kind whose settings are given. A
// gateway that is named wins; where settings of both an Ingress and a Route are given, the
// cluster decides which of them hold.
func (e *Expose) SettledType() ExposeType {
	ingress := e.Ingress != nil && (e.Ingress.ClassName != "" || e.Ingress.TLSSecretName != "" || len(e.Ingress.Annotations) > 0)
	route := e.Route != nil && *e.Route != ExposeRoute{}
	switch {
	case e.Type != "" && e.Type != ExposeTypeAuto:
		return e.Type
	case e.HTTPRoute != nil:
		return ExposeTypeHTTPRoute
	case ingress && !route:
		return ExposeTypeIngress
	case route && !ingress:
		return ExposeTypeRoute
	}
	return ""
}

func (e *Expose) isRoute() bool { return e.SettledType() == ExposeTypeRoute }

func validateHosts(path *field.Path, e *Expose) field.ErrorList {
	errs := atMost(path, len(e.Hosts), 16)
	seen := map[string]bool{}
	for i, host := range e.Hosts {
		errs = append(errs, validateHost(path.Index(i), host)...)
		if seen[host] {
			errs = append(errs, field.Duplicate(path.Index(i), host))
		}
		seen[host] = true
	}
	switch {
	case len(e.Hosts) == 0 && (e.SettledType() == ExposeTypeIngress || e.SettledType() == ExposeTypeHTTPRoute):
		errs = append(errs, field.Required(path, "give at least one host: without it the traffic of every other application would come here; only a Route is given one"))
	case len(e.Hosts) > 1 && e.isRoute():
		errs = append(errs, field.Invalid(path, e.Hosts, "must have at most 1 item for a Route, which has one host; Ingress and HTTPRoute take several"))
	}
	return errs
}

// validateHost asks for what Ingress, HTTPRoute and Route all take.
func validateHost(path *field.Path, host string) field.ErrorList {
	name := strings.TrimPrefix(host, "*.")
	if _, err := netip.ParseAddr(name); err == nil {
		return field.ErrorList{field.Invalid(path, host, "must be a DNS name, not an address")}
	}
	if len(utilvalidation.IsDNS1123Subdomain(name)) > 0 || len(host) > utilvalidation.DNS1123SubdomainMaxLength {
		return field.ErrorList{field.Invalid(path, host, "must be a DNS name in lower case of at most 253 characters, such as app.example.com or *.example.com, without scheme, port or path")}
	}
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > utilvalidation.DNS1123LabelMaxLength {
			return field.ErrorList{field.Invalid(path, host, "must have at most 63 characters between two dots")}
		}
	}
	return nil
}

// pathCharacters are those that a Gateway takes; Ingress and Route take more.
var pathCharacters = regexp.MustCompile(`^/(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})*$`)

func validateExposePaths(path *field.Path, e *Expose) field.ErrorList {
	errs := atMost(path, len(e.Paths), 16)
	seen := map[ExposePath]bool{}
	for i, p := range e.Paths {
		item := path.Index(i)
		errs = append(errs, optionalOneOf(item.Child("pathType"), p.PathType, []PathType{PathTypePrefix, PathTypeExact})...)
		errs = append(errs, validateExposePath(item.Child("path"), p.Path)...)
		if p.PathType == "" {
			p.PathType = PathTypePrefix
		}
		if seen[p] {
			errs = append(errs, field.Duplicate(item.Child("path"), p.Path))
		}
		seen[p] = true
		if p.PathType == PathTypeExact && e.isRoute() {
			errs = append(errs, field.Invalid(item.Child("pathType"), p.PathType, "must be Prefix for a Route, which compares no other way"))
		}
	}
	if len(e.Paths) > 1 && e.isRoute() {
		errs = append(errs, field.Invalid(path, len(e.Paths), "must have at most 1 item for a Route, which has one path; Ingress and HTTPRoute take several"))
	}
	return errs
}

func validateExposePath(path *field.Path, value string) field.ErrorList {
	errs := noLongerThan(path, value, 1024)
	if !pathCharacters.MatchString(value) {
		return append(errs, field.Invalid(path, value, "must begin with '/' and have only characters of the path of a URL, without query and fragment"))
	}
	lower := strings.ToLower(value)
	for _, part := range []string{"//", "/./", "/../", "%2f"} {
		if strings.Contains(lower, part) {
			return append(errs, field.Invalid(path, value, "must not contain '"+part+"'"))
		}
	}
	for _, end := range []string{"/.", "/.."} {
		if strings.HasSuffix(value, end) {
			return append(errs, field.Invalid(path, value, "must not end with '"+end+"'"))
		}
	}
	return errs
}

func validateIngress(path *field.Path, i *ExposeIngress) field.ErrorList {
	if i == nil {
		return nil
	}
	errs := optionalObjectName(path.Child("className"), i.ClassName)
	errs = append(errs, optionalObjectName(path.Child("tlsSecretName"), i.TLSSecretName)...)
	errs = append(errs, atMost(path.Child("annotations"), len(i.Annotations), 64)...)
	return append(errs, validation.ValidateAnnotations(i.Annotations, path.Child("annotations"))...)
}

func validateHTTPRoute(path *field.Path, e *Expose) field.ErrorList {
	if e.HTTPRoute == nil {
		if e.Type == ExposeTypeHTTPRoute {
			return field.ErrorList{field.Required(path, "name the Gateway in gatewayRef, which an HTTPRoute attaches to")}
		}
		return nil
	}
	gateway, ref := path.Child("gatewayRef"), e.HTTPRoute.GatewayRef
	var errs field.ErrorList
	if ref.Name == "" {
		errs = append(errs, field.Required(gateway.Child("name"), "give the name of the Gateway"))
	}
	errs = append(errs, optionalObjectName(gateway.Child("name"), ref.Name)...)
	errs = append(errs, namespaceName(gateway.Child("namespace"), ref.Namespace)...)
	return append(errs, optionalObjectName(gateway.Child("sectionName"), ref.SectionName)...)
}

func validateRoute(path *field.Path, e *Expose) field.ErrorList {
	r := e.Route
	if r == nil {
		return nil
	}
	errs := optionalOneOf(path.Child("termination"), r.Termination,
		[]RouteTermination{RouteTerminationEdge, RouteTerminationPassthrough, RouteTerminationReencrypt, RouteTerminationNone})
	errs = append(errs, optionalOneOf(path.Child("insecurePolicy"), r.InsecurePolicy,
		[]RouteInsecurePolicy{RouteInsecurePolicyRedirect, RouteInsecurePolicyAllow, RouteInsecurePolicyNone})...)
	if !e.isRoute() {
		return append(errs, validateEncryption(path, r)...)
	}
	switch r.Termination {
	case RouteTerminationPassthrough:
		if r.InsecurePolicy == RouteInsecurePolicyAllow {
			errs = append(errs, field.Invalid(path.Child("insecurePolicy"), r.InsecurePolicy, "must be Redirect or None with the termination Passthrough"))
		}
		if narrowed := len(e.Paths) > 1 || len(e.Paths) == 1 && e.Paths[0].Path != "/"; narrowed {
			errs = append(errs, field.Invalid(path.Child("termination"), r.Termination, "must not be Passthrough with paths: the router cannot see the path of an encrypted request"))
		}
	case RouteTerminationNone:
		if r.InsecurePolicy != "" {
			errs = append(errs, field.Forbidden(path.Child("insecurePolicy"), "must be left out with the termination None: no request is encrypted"))
		}
	case RouteTerminationEdge, RouteTerminationReencrypt:
	}
	return errs
}

// validateEncryption judges settings that only a Route carries out, where there may be none:
// what was to be encrypted must not be exposed in another way.
func validateEncryption(path *field.Path, r *ExposeRoute) field.ErrorList {
	const hint = ", which only a Route carries out: set spec.expose.type to Route, or leave it out"
	var errs field.ErrorList
	switch r.Termination {
	case RouteTerminationPassthrough, RouteTerminationReencrypt:
		errs = append(errs, field.Invalid(path.Child("termination"), r.Termination, "asks for encryption as far as the application"+hint))
	case RouteTerminationEdge, RouteTerminationNone:
	}
	switch r.InsecurePolicy {
	case RouteInsecurePolicyRedirect, RouteInsecurePolicyNone:
		errs = append(errs, field.Invalid(path.Child("insecurePolicy"), r.InsecurePolicy, "keeps out requests that are not encrypted"+hint))
	case RouteInsecurePolicyAllow:
	}
	return errs
}
