// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlotsShowEachKind(t *testing.T) {
	samples := []float64{0.004, 0.005, 0.009}
	idle := &latencies{Put: samples, Updated: samples, Ready: samples}
	r := &report{
		Rates: []rates{
			{Kind: "EGApp", Bare: []float64{100, 100, 104, 102}, Ours: []float64{80, 84}, Naive: []float64{20, 20}},
			{Kind: "DemoMicroService", Bare: []float64{150, 152, 149, 150}, Ours: []float64{120, 122}, Naive: []float64{25, 26}},
		},
		Latencies: map[string]latencyOf{"EGApp": {Idle: idle}, "DemoMicroService": {Idle: idle}},
		Sizes: sizes{EmptyHeapBytes: 10e6, Sizes: []size{
			{N: 300, SecondsEach: 0.012, HeapBytes: 13e6}, {N: 3000, SecondsEach: 0.0125, HeapBytes: 42e6},
		}},
	}
	dir := t.TempDir()
	if err := r.plot(dir); err != nil {
		t.Fatal(err)
	}
	for file, words := range map[string][]string{
		"rates.svg":     {"EGApp", "DemoMicroService", "goal", "floor"},
		"latencies.svg": {"EGApp: child changed", "DemoMicroService: ready"},
		"sizes.svg":     {"300 EGApps", "3000 EGApps", "heap", "time to ready"},
	} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if !strings.Contains(string(content), word) {
				t.Errorf("%s does not show %q", file, word)
			}
		}
	}
}
