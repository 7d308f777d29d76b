// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
)

const (
	// phaseUnknown is the phase of an application that has no status yet.
	phaseUnknown = "Unknown"
	// labelOther stands for a value that the schema does not know, so that objects which
	// are older than it cannot add series.
	labelOther = "other"
	// collectTimeout bounds the wait for a cache that is still filling.
	collectTimeout = time.Second
)

// applications counts the applications in the cache whenever it is asked.
type applications struct {
	reader client.Reader
	leads  <-chan struct{}
	count  *prometheus.Desc
}

func newApplications(reader client.Reader, leads <-chan struct{}) *applications {
	return &applications{reader: reader, leads: leads, count: prometheus.NewDesc(
		"platformapp_applications", "Applications, by what they are and the phase they are in.",
		[]string{labelKind, labelEnvironment, labelFramework, labelPhase}, nil,
	)}
}

// Describe tells what Collect returns.
func (a *applications) Describe(out chan<- *prometheus.Desc) { out <- a.count }

// series is one combination of the labels' values.
type series struct{ kind, environment, framework, phase string }

// Collect counts. It returns nothing while another operator leads or the cache is not
// filled: no value is better than one that is too small, and an error would cost the
// scrape all other metrics.
func (a *applications) Collect(out chan<- prometheus.Metric) {
	select {
	case <-a.leads:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	var egapps v1alpha1.EGAppList
	var services devopsv1.DemoMicroServiceList
	for _, list := range []client.ObjectList{&egapps, &services} {
		if err := a.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return
		}
	}
	counts := map[series]int{}
	for i := range egapps.Items {
		spec := &egapps.Items[i].Spec
		counts[series{
			"EGApp", known(spec.Environment, v1alpha1.Environments()), known(spec.Framework, v1alpha1.Frameworks()),
			phaseOf(egapps.Items[i].AppStatus()),
		}]++
	}
	for i := range services.Items {
		counts[series{kind: "DemoMicroService", phase: phaseOf(services.Items[i].AppStatus())}]++
	}
	for s, n := range counts {
		out <- prometheus.MustNewConstMetric(a.count, prometheus.GaugeValue, float64(n), s.kind, s.environment, s.framework, s.phase)
	}
}

func phaseOf(status *appstatus.Status) string {
	if status.Phase == "" {
		return phaseUnknown
	}
	return string(status.Phase)
}

// known returns the value if it is one of those, and else labelOther.
func known[T ~string](value T, values []T) string {
	if slices.Contains(values, value) {
		return string(value)
	}
	return labelOther
}
