// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"path/filepath"
	"testing"

	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// rendered are applications, by the golden case that they are of, with the most allocations that the way from the
// specification to the children may take.
var rendered = map[string]float64{
	"c01-egapp-sample":            190,
	"c02-demomicroservice-sample": 70,
}

// render returns the way from a specification to the children.
func render(tb testing.TB, name string) func() []resources.Child {
	tb.Helper()
	file := filepath.Join("testdata", name, "input.yaml")
	w, err := readWorkload(tb, file, translate.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return func() []resources.Child { return resources.Desired(w, workload.Observed{}) }
}

func BenchmarkDesired(b *testing.B) {
	for name := range rendered {
		b.Run(name, func(b *testing.B) {
			desired := render(b, name)
			b.ReportAllocs()
			for b.Loop() {
				desired()
			}
		})
	}
}

// Each turn renders the children. More allocations than these come from somewhere that nobody has thought of.
func TestRenderingTakesFewAllocations(t *testing.T) {
	for name, most := range rendered {
		desired := render(t, name)
		if got := testing.AllocsPerRun(100, func() { desired() }); got > most {
			t.Errorf("%s: %.0f allocations, at most %.0f", name, got, most)
		}
	}
}
