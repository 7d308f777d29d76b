// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// prometheusDuration is what Prometheus takes for an interval
// (https://prometheus.io/docs/prometheus/latest/configuration/configuration/).
var prometheusDuration = regexp.MustCompile(`^([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$`)

// validateMonitoring judges how metrics are scraped.
func validateMonitoring(path *field.Path, s *EGAppSpec) field.ErrorList {
	m := s.Monitoring
	if m == nil {
		return nil
	}
	if s.IsWorker() {
		return field.ErrorList{field.Forbidden(path, worker)}
	}
	var errs field.ErrorList
	switch {
	case m.Port == "":
		errs = append(errs, field.Required(path.Child("port"), "give the name or the containerPort of the port that serves the metrics"))
	case s.MetricsPort() == nil:
		errs = append(errs, field.Invalid(path.Child("port"), m.Port, "must be the name or the containerPort of a TCP port of spec.ports: "+s.servingNames()))
	}
	errs = append(errs, noLongerThan(path.Child("path"), m.Path, 1024)...)
	if m.Path != "" && !strings.HasPrefix(m.Path, "/") {
		errs = append(errs, field.Invalid(path.Child("path"), m.Path, "must begin with '/'"))
	}
	if !prometheusDuration.MatchString(m.Interval) {
		errs = append(errs, field.Invalid(path.Child("interval"), m.Interval, "must be a duration with its unit, such as 30s or 1m30s"))
	}
	errs = append(errs, atMost(path.Child("labels"), len(m.Labels), 64)...)
	return append(errs, metav1validation.ValidateLabels(m.Labels, path.Child("labels"))...)
}

// MetricsPort returns the TCP port that serves the metrics, by its name or its
// containerPort, or nil if there is no such port.
func (s *EGAppSpec) MetricsPort() *Port {
	if number, err := strconv.ParseInt(s.Monitoring.Port, 10, 32); err == nil {
		for _, port := range s.Listens() {
			if port.Protocol == corev1.ProtocolTCP && int64(port.ContainerPort) == number {
				return &port
			}
		}
		return nil
	}
	return s.ServingPort(s.Monitoring.Port)
}

// validateNetworkPolicy judges who may connect.
func validateNetworkPolicy(path *field.Path, n *NetworkPolicy) field.ErrorList {
	if n == nil {
		return nil
	}
	errs := oneOf(path.Child("isolation"), n.Isolation, []Isolation{IsolationNamespace, IsolationListed})
	errs = append(errs, atMost(path.Child("from"), len(n.From), 64)...)
	for i, peer := range n.From {
		item := path.Child("from").Index(i)
		if peer.App == "" {
			errs = append(errs, field.Required(item.Child("app"), "give the name of the EGApp"))
		} else {
			errs = append(errs, invalid(item.Child("app"), peer.App, validation.IsDNS1035Label(peer.App))...)
		}
		errs = append(errs, namespaceName(item.Child("namespace"), peer.Namespace)...)
	}
	return errs
}
