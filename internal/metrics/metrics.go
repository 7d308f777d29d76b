// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package metrics counts what the operator does for the fleet of applications. Each
// metric has a bounded number of series, however many applications there are; none names
// an application. docs/metrics.md lists them.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The names of the labels.
const (
	labelKind        = "kind"
	labelEnvironment = "environment"
	labelFramework   = "framework"
	labelPhase       = "phase"
	labelResult      = "result"
)

var (
	readySeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "platformapp_application_ready_seconds",
		Help:    "Time from the creation of an application until it was Ready for the first time.",
		Buckets: []float64{1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800},
	}, []string{labelKind})

	childWrites = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "platformapp_child_writes_total",
		Help: "Writes of children, by the kind of the child and what came of the write.",
	}, []string{labelKind, labelResult})
)

// Register registers all metrics of the operator. The applications are counted from the
// cache that reader reads, once leads is closed: of several operators only the one that
// works counts them.
func Register(registerer prometheus.Registerer, reader client.Reader, leads <-chan struct{}) error {
	for _, collector := range []prometheus.Collector{readySeconds, childWrites, newApplications(reader, leads)} {
		if err := registerer.Register(collector); err != nil {
			return err
		}
	}
	return nil
}
