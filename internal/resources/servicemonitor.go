// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"platformapp/internal/workload"
)

// serviceMonitor lets the Prometheus operator scrape the metrics by the application's
// Service, which it finds by the labels that the Service shares with the pods.
func serviceMonitor(w workload.Workload, _ workload.Observed) *Child {
	if w.Monitoring == nil || w.Service == nil {
		return nil
	}
	c := child(w.Owner, monitoringv1.SchemeGroupVersion.WithKind(monitoringv1.ServiceMonitorsKind), monitoringv1.ServiceMonitorSpec{
		Selector:          metav1.LabelSelector{MatchLabels: w.Owner.Selector()},
		NamespaceSelector: monitoringv1.NamespaceSelector{MatchNames: []string{w.Owner.Namespace}},
		Endpoints: []monitoringv1.Endpoint{{
			Port:     w.Monitoring.Port,
			Path:     w.Monitoring.Path,
			Interval: monitoringv1.Duration(w.Monitoring.Interval),
		}},
	})
	// Those that the operator goes by win over the user's.
	labels := maps.Clone(w.Monitoring.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, w.Owner.ChildLabels())
	c.Meta.Labels = labels
	return c
}
