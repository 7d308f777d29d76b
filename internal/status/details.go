// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"

	routev1 "github.com/openshift/api/route/v1"

	"platformapp/api/appstatus"
	"platformapp/internal/workload"
)

// details returns what only some kinds of application report. Of a specification that is
// not carried out there is nothing to tell: what ran before runs on as it was told.
func (f facts) details(previous appstatus.Details) appstatus.Details {
	if f.stall != nil {
		return previous
	}
	details := appstatus.Details{URL: f.url()}
	if choice := f.workload.ChosenExposure(f.observed); choice.Type != "" {
		details.Expose = &appstatus.Exposure{Type: string(choice.Type), Reason: choice.Why}
	}
	if r := f.workload.Container.Resources; len(r.Limits) > 0 || len(r.Requests) > 0 {
		details.Resources = &appstatus.Resources{Limits: r.Limits, Requests: r.Requests}
	}
	return details
}

// url returns where the application is reached from outside: the first host that stands
// for itself alone, with the first path, once the object that exposes it is there.
func (f facts) url() string {
	choice := f.workload.ChosenExposure(f.observed)
	if choice.Type == "" || choice.Problem != "" {
		return ""
	}
	object := f.ours(string(choice.Type))
	if object == nil {
		return ""
	}
	host := firstPlainHost(f.workload.Exposure.Hosts)
	if route, ok := object.(*routev1.Route); ok {
		host = routeHost(route)
	}
	if host == "" {
		return ""
	}
	scheme := "http://"
	if isEncrypted(*f.workload.Exposure, choice.Type) {
		scheme = "https://"
	}
	return scheme + host + strings.TrimSuffix(f.workload.Exposure.Paths[0].Path, "/")
}

func firstPlainHost(hosts []string) string {
	for _, host := range hosts {
		if !strings.HasPrefix(host, "*") {
			return host
		}
	}
	return ""
}

// isEncrypted tells whether an application is asked for by HTTPS. What a Gateway's
// listener speaks is not known here but by its customary name.
func isEncrypted(e workload.Exposure, kind workload.ExposureType) bool {
	switch kind {
	case workload.ExposureIngress:
		return e.TLSSecret != ""
	case workload.ExposureRoute:
		return e.RouteTermination != ""
	default:
		return e.Gateway != nil && strings.HasPrefix(e.Gateway.SectionName, "https")
	}
}
