// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"platformapp/api/egplatform/v1alpha1"
)

// docs/metrics.md has a row for each metric: name, type, labels.
func TestPageListsExactlyWhatIsRegistered(t *testing.T) {
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `(platformapp_[a-z_]+)` \\| ([a-z]+) \\| ([^|]*) \\|")
	for _, match := range row.FindAllStringSubmatch(string(page), -1) {
		labels := regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(match[3], -1)
		var names []string
		for _, label := range labels {
			names = append(names, label[1])
		}
		slices.Sort(names)
		listed[match[1]] = match[2] + " " + strings.Join(names, " ")
	}

	registry := prometheus.NewPedanticRegistry()
	if err := Register(registry, fleet{egapps: []v1alpha1.EGApp{egapp("dev", "go", "")}}, leading()); err != nil {
		t.Fatal(err)
	}
	readySeconds.WithLabelValues("EGApp")
	childWrites.WithLabelValues("Deployment", resultApplied)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	registered := map[string]string{}
	for _, family := range families {
		var names []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			names = append(names, label.GetName())
		}
		slices.Sort(names)
		registered[family.GetName()] = strings.ToLower(family.GetType().String()) + " " + strings.Join(names, " ")
	}
	if diff := cmp.Diff(registered, listed); diff != "" {
		t.Errorf("-registered +listed in docs/metrics.md:\n%s", diff)
	}
	results := []string{resultApplied, resultDeleted, resultConflict, resultForbidden, resultInvalid, resultError}
	for _, value := range append(results, phaseUnknown, labelOther) {
		if !strings.Contains(string(page), "`"+value+"`") {
			t.Errorf("docs/metrics.md does not tell of the value %s", value)
		}
	}
}

// gather returns the counters and gauges of a collector.
func gather(t *testing.T, collector prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(collector); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			var pairs []string
			for _, name := range slices.Sorted(maps.Keys(labels)) {
				pairs = append(pairs, fmt.Sprintf("%s=%q", name, labels[name]))
			}
			values[family.GetName()+"{"+strings.Join(pairs, ",")+"}"] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	return values
}
