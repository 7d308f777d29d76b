// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
)

// median returns the middle of the samples, of which there is at least one.
func median(samples []float64) float64 { return quantile(samples, 0.5) }

// quantile returns the sample below which the share q of all is, between two samples in proportion.
func quantile(samples []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	at := q * float64(len(sorted)-1)
	below := int(math.Floor(at))
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

func lowest(samples []float64) float64  { return slices.Min(samples) }
func highest(samples []float64) float64 { return slices.Max(samples) }

// spread is how far the samples lie apart, as a share of their median.
func spread(samples []float64) float64 {
	return (highest(samples) - lowest(samples)) / median(samples)
}
