// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"platformapp/test/operator"
)

// The operator's own metrics, and those of its runtime, that are read.
const (
	metricTurns    = "controller_runtime_reconcile_total"
	metricErrors   = "controller_runtime_reconcile_errors_total"
	metricQueued   = "workqueue_depth"
	metricInQueue  = "workqueue_queue_duration_seconds"
	metricWorking  = "controller_runtime_active_workers"
	metricRequests = "rest_client_requests_total"
	metricCPU      = "process_cpu_seconds_total"
	metricRSS      = "process_resident_memory_bytes"
	metricHeap     = "go_gc_heap_live_bytes"
)

const (
	restPoll    = 20 * time.Millisecond
	restTimeout = 5 * time.Minute
)

// families are the metrics of a process at one moment.
type families map[string]*dto.MetricFamily

func metricsOf(ctx context.Context, process *operator.Process) (families, error) {
	text, err := process.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(strings.NewReader(text))
}

// sum adds up the values of a metric whose labels have the given values.
func (f families) sum(name string, labels map[string]string) float64 {
	total := 0.0
	for _, metric := range f[name].GetMetric() {
		if hasLabels(metric, labels) {
			total += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return total
}

// requestsByMethod returns how many requests the process counts itself, by HTTP method.
func (f families) requestsByMethod() map[string]int {
	out := map[string]int{}
	for _, metric := range f[metricRequests].GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == "method" {
				out[label.GetValue()] += int(metric.GetCounter().GetValue())
			}
		}
	}
	return out
}

// quantileSince returns the quantile of what a histogram with the labels has observed since before, in proportion
// within a bucket.
func (f families) quantileSince(before families, name string, labels map[string]string, q float64) float64 {
	now, then := f.buckets(name, labels), before.buckets(name, labels)
	bounds := slices.Sorted(maps.Keys(now))
	if len(bounds) == 0 {
		return 0
	}
	count := func(bound float64) float64 { return now[bound] - then[bound] }
	rank := q * count(bounds[len(bounds)-1])
	lower, below := 0.0, 0.0
	for _, bound := range bounds {
		if in := count(bound); in >= rank && in > below {
			return lower + (bound-lower)*(rank-below)/(in-below)
		}
		lower, below = bound, count(bound)
	}
	return lower
}

// buckets returns the cumulative counts of a histogram by the upper bound of the bucket.
func (f families) buckets(name string, labels map[string]string) map[float64]float64 {
	out := map[float64]float64{}
	for _, metric := range f[name].GetMetric() {
		if !hasLabels(metric, labels) {
			continue
		}
		for _, bucket := range metric.GetHistogram().GetBucket() {
			out[bucket.GetUpperBound()] += float64(bucket.GetCumulativeCount())
		}
	}
	return out
}

func hasLabels(metric *dto.Metric, labels map[string]string) bool {
	found := 0
	for _, label := range metric.GetLabel() {
		if value, ok := labels[label.GetName()]; ok && value == label.GetValue() {
			found++
		}
	}
	return found == len(labels)
}

// awaitTurns returns when the loop of a controller has made n turns and has none to make, and what the metrics say then.
func awaitTurns(ctx context.Context, process *operator.Process, controller string, n float64) (families, error) {
	ctx, stop := context.WithTimeout(ctx, restTimeout)
	defer stop()
	for {
		f, err := metricsOf(ctx, process)
		if err != nil {
			return nil, err
		}
		turns := f.sum(metricTurns, map[string]string{"controller": controller})
		if turns >= n && f.sum(metricQueued, nil) == 0 && f.sum(metricWorking, nil) == 0 {
			return f, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the operator has made %.0f of %.0f turns: %w", turns, n, ctx.Err())
		case <-time.After(restPoll):
		}
	}
}
