// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func TestQuantiles(t *testing.T) {
	samples := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 1: 4} {
		if got := quantile(samples, q); got != want {
			t.Errorf("the quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := spread([]float64{90, 100, 110}); math.Abs(got-0.2) > 1e-9 {
		t.Errorf("the spread is %v", got)
	}
	if got := quantile([]float64{7}, 0.99); got != 7 {
		t.Errorf("of one sample it is %v", got)
	}
}

func TestARunIsVoidWhenTheBareLoopVaries(t *testing.T) {
	r := rates{Bare: []float64{100, 110, 105, 100}, Ours: []float64{84, 82}, Naive: []float64{20, 10}}
	if r.isVoid() {
		t.Error("10 % make it void")
	}
	if got := r.ofBare(); math.Abs(got[0]-0.8) > 1e-9 || math.Abs(got[1]-0.8) > 1e-9 {
		t.Errorf("of the bare loop: %v", got)
	}
	if got := r.ofNaive(); math.Abs(got[0]-4.2) > 1e-9 || math.Abs(got[1]-8.2) > 1e-9 {
		t.Errorf("of the naive reconciler: %v", got)
	}
	if r.Bare[3] = 120; !r.isVoid() {
		t.Error("19 % do not make it void")
	}
}

func TestQuantileOfWhatAHistogramObservedSince(t *testing.T) {
	const before = `# TYPE workqueue_queue_duration_seconds histogram
workqueue_queue_duration_seconds_bucket{name="egapp",le="0.1"} 100
workqueue_queue_duration_seconds_bucket{name="egapp",le="1"} 100
workqueue_queue_duration_seconds_bucket{name="egapp",le="+Inf"} 100
`
	const after = `# TYPE workqueue_queue_duration_seconds histogram
workqueue_queue_duration_seconds_bucket{name="egapp",le="0.1"} 150
workqueue_queue_duration_seconds_bucket{name="egapp",le="1"} 200
workqueue_queue_duration_seconds_bucket{name="egapp",le="+Inf"} 200
workqueue_queue_duration_seconds_bucket{name="other",le="0.1"} 0
workqueue_queue_duration_seconds_bucket{name="other",le="1"} 900
workqueue_queue_duration_seconds_bucket{name="other",le="+Inf"} 900
`
	read := func(text string) families {
		parser := expfmt.NewTextParser(model.UTF8Validation)
		f, err := parser.TextToMetricFamilies(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	of := map[string]string{"name": "egapp"}
	for q, want := range map[float64]float64{0.25: 0.05, 0.5: 0.1, 0.75: 0.55, 1: 1} {
		if got := read(after).quantileSince(read(before), metricInQueue, of, q); math.Abs(got-want) > 1e-9 {
			t.Errorf("the quantile %v is %v, want %v", q, got, want)
		}
	}
}
