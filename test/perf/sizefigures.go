// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// figures returns what many EGApps, a restart, rest and events that change nothing cost.
func (z sizes) figures() []figure {
	small, large := z.Sizes[0], z.Sizes[len(z.Sizes)-1]
	heapEach := func(s size) float64 { return (s.HeapBytes - z.EmptyHeapBytes) / float64(s.N) / 1024 }
	note := fmt.Sprintf("%d against %d EGApps", large.N, small.N)
	return []figure{
		figure{Name: "exec to readyz with no objects", Unit: "s"}.of(z.StartSeconds).atMost(0.5, 2),
		figure{Name: "heap per EGApp with its children", Unit: "KB", Measured: heapEach(large),
			Note: fmt.Sprintf("%d of them, without pods", large.N)}.atMost(12, 20),
		{Name: "resident memory per EGApp", Unit: "KB", Measured: (large.RSSBytes - z.EmptyRSSBytes) / float64(large.N) / 1024,
			Note: fmt.Sprintf("%.0f MB in all", large.RSSBytes/(1<<20))},
		figure{Name: "restart per EGApp", Unit: "ms", Measured: 1000 * large.RestartSecondsEach,
			Note: fmt.Sprintf("%d of them; %.2f ms of CPU", large.N, 1000*large.RestartCPUSecondsEach)}.atMost(0.3, 1),
		figure{Name: "restart: writes", Unit: "writes", Measured: float64(large.RestartWrites), Note: "in all"}.
			atMost(0, 0),
		figure{Name: "restart: requests per watched kind, the most", Unit: "requests", Measured: mostForOneKind(large.RestartRequests),
			Note: byVerb(large.RestartRequests)}.aimingAtMost(2),
		figure{Name: "rest: writes", Unit: "writes", Measured: float64(z.RestWrites),
			Note: fmt.Sprintf("in all, in %.0f s", z.RestSeconds)}.atMost(0, 0),
		figure{Name: "rest: reads that are no watch", Unit: "requests", Measured: readsOf(z.RestRequests),
			Note: byVerb(z.RestRequests)}.aimingAtMost(0),
		figure{Name: "events that change nothing: writes", Unit: "writes", Measured: float64(z.NoOpWrites),
			Note: fmt.Sprintf("for %d of them", large.N)}.atMost(0, 0),
		{Name: "CPU of an event that changes nothing", Unit: "us", Measured: 1e6 * z.NoOpCPUSeconds,
			Note: "of the process: the watch event, the cache, the turn"},
		figure{Name: "heap per EGApp, growth", Unit: "x", Measured: heapEach(large) / heapEach(small), Note: note}.
			atMost(1.1, 1.3),
		figure{Name: "time to ready per EGApp, growth", Unit: "x", Measured: large.SecondsEach / small.SecondsEach, Note: note}.
			atMost(1.1, 1.3),
		figure{Name: "CPU of a restart per EGApp, growth", Unit: "x",
			Measured: large.RestartCPUSecondsEach / small.RestartCPUSecondsEach,
			Note:     note + "; that of the start itself is in it"}.atMost(1.1, 1.3),
	}
}

// mostForOneKind returns the requests of the resource with the most.
func mostForOneKind(requests map[string]int) float64 {
	byResource := map[string]int{}
	for what, n := range requests {
		_, resource, _ := strings.Cut(what, " ")
		byResource[resource] += n
	}
	return float64(max(0, slices.Max(append(slices.Collect(maps.Values(byResource)), 0))))
}

// readsOf returns the requests that read and are no watch.
func readsOf(requests map[string]int) float64 {
	n := 0
	for what, count := range requests {
		if verb, _, _ := strings.Cut(what, " "); verb == "get" || verb == "list" {
			n += count
		}
	}
	return float64(n)
}

// byVerb tells the requests by their verbs.
func byVerb(requests map[string]int) string {
	verbs := map[string]int{}
	for what, n := range requests {
		verb, _, _ := strings.Cut(what, " ")
		verbs[verb] += n
	}
	var parts []string
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		parts = append(parts, fmt.Sprintf("%d %s", verbs[verb], verb))
	}
	return strings.Join(parts, ", ")
}

// foreignFigures returns what objects of others cost. What is not read must cost nothing: less than settledShare of the
// heap and a few bytes for what its kind is watched with cannot be told from nothing.
func foreignFigures(foreign []growth) []figure {
	var out []figure
	total := 0.0
	for _, g := range foreign {
		total += g.BytesEach * float64(g.N) / (1 << 20)
		f := figure{Name: "heap per foreign " + g.Kind, Unit: "B", Measured: g.BytesEach, Note: fmt.Sprintf("%d of them", g.N)}
		if g.Kind == "ConfigMap" {
			f = f.aimingAtMost(500)
		} else {
			f = f.aimingAtMost(50)
		}
		out = append(out, f)
	}
	return append(out, figure{Name: "heap for all foreign objects", Unit: "MB", Measured: total}.atMost(20, 20))
}
