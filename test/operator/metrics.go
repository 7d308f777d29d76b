// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics returns the operator's metrics as the text that it serves. The operator needs the flag
// --metrics-secure=false, and serves them a moment after it is ready.
func (p *Process) Metrics(ctx context.Context) (string, error) {
	return get(ctx, "http://"+p.MetricsAddress+"/metrics")
}

// Sum returns the sum of the counters or gauges of a name that have these labels, maybe beside others. A histogram counts
// with the number of its observations. It is 0 when there is none.
func (p *Process) Sum(ctx context.Context, name string, labels map[string]string) (float64, error) {
	text, err := p.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	return sum(text, name, labels)
}

func sum(text, name string, labels map[string]string) (float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return 0, fmt.Errorf("read the metrics of the operator: %w", err)
	}
	total := 0.0
	for _, metric := range families[name].GetMetric() {
		if hasLabels(metric, labels) {
			total += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return total, nil
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

// get returns the body of an answer 200, and an error for any other.
func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", url, answer.Status, body)
	}
	return string(body), err
}

// client keeps no connection to an operator that may be killed.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
