// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"testing"

	"platformapp/internal/status"
)

// everythingRuns is an application at rest, of which all that a status tells is there to be told.
func everythingRuns() *scene {
	s := running(3)
	autoscaled(s)
	exposed("Auto", oneHost, "Route")(s)
	route("orders.example.com", router("orders.example.com", "True", "", ""))(s)
	return s
}

// BenchmarkComputeAtRest is what each turn for an application at rest pays for its status.
func BenchmarkComputeAtRest(b *testing.B) {
	s := everythingRuns()
	b.ReportAllocs()
	for b.Loop() {
		s.result()
	}
}

// BenchmarkIsSame is what each turn pays to find out that the status says so already.
func BenchmarkIsSame(b *testing.B) {
	was, is := fullStatus(), fullStatus()
	b.ReportAllocs()
	for b.Loop() {
		if !status.IsSame(was, is) {
			b.Fatal("they differ")
		}
	}
}

// Each turn computes the status. More allocations than these come from somewhere that nobody has thought of.
func TestComputingAStatusTakesFewAllocations(t *testing.T) {
	const most = 45
	s := everythingRuns()
	if got := testing.AllocsPerRun(100, func() { s.result() }); got > most {
		t.Errorf("%.0f allocations, at most %d", got, most)
	}
	was, is := fullStatus(), fullStatus()
	if got := testing.AllocsPerRun(100, func() { status.IsSame(was, is) }); got > 0 {
		t.Errorf("%.0f allocations to compare two statuses, want none", got)
	}
}
