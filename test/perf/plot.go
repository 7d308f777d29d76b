// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"image/color"
	"maps"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/vgsvg" // Writes SVG.
)

const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 9 * vg.Centimeter
	barWidth   = 30 * vg.Millimeter
)

// The colors are told apart by those who see few, too (https://jfly.uni-koeln.de/color).
var (
	colorOurs  = color.RGBA{R: 0, G: 114, B: 178, A: 255}
	colorOther = color.RGBA{R: 230, G: 159, B: 0, A: 255}
	colorGoal  = color.RGBA{R: 0, G: 158, B: 115, A: 255}
	colorFloor = color.RGBA{R: 213, G: 94, B: 0, A: 255}
)

// plot draws what is measured into a folder.
func (r *report) plot(dir string) error {
	if err := r.plotRates(filepath.Join(dir, "rates.svg")); err != nil {
		return err
	}
	if err := r.plotLatencies(filepath.Join(dir, "latencies.svg")); err != nil {
		return err
	}
	return r.plotSizes(filepath.Join(dir, "sizes.svg"))
}

// plotRates shows, round by round, the share of the rate of the bare loop that the operator reaches.
func (r *report) plotRates(path string) error {
	p := plot.New()
	p.Title.Text = "Applications to ready, of the bare loop of clients"
	p.X.Label.Text, p.Y.Label.Text = "round", "share of the bare loop"
	p.Y.Min, p.Y.Max = 0, 1.1
	colors := []color.Color{colorOurs, colorOther}
	rounds := 1.0
	for i, compared := range r.Rates {
		var points plotter.XYs
		for round, share := range compared.ofBare() {
			points = append(points, plotter.XY{X: float64(round + 1), Y: share})
		}
		rounds = max(rounds, float64(len(points)))
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, marks.Color = colors[i%len(colors)], colors[i%len(colors)]
		p.Add(line, marks)
		p.Legend.Add(compared.Kind, line, marks)
	}
	p.X.Min, p.X.Max = 0.5, rounds+0.5
	if err := addBounds(p, p.X.Min, p.X.Max, 0.85, 0.70); err != nil {
		return err
	}
	return p.Save(plotWidth, plotHeight, path)
}

// addBounds draws the goal and the floor across a plot.
func addBounds(p *plot.Plot, from, to, goal, floor float64) error {
	for _, bound := range []struct {
		name  string
		value float64
		color color.Color
	}{{"goal", goal, colorGoal}, {"floor", floor, colorFloor}} {
		line, err := plotter.NewLine(plotter.XYs{{X: from, Y: bound.value}, {X: to, Y: bound.value}})
		if err != nil {
			return err
		}
		line.Color, line.Dashes = bound.color, []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(line)
		p.Legend.Add(bound.name, line)
	}
	return nil
}

// plotLatencies shows how long a change takes, in times of one write of the application.
func (r *report) plotLatencies(path string) error {
	p := plot.New()
	p.Title.Text = "A change of a specification, idle"
	p.X.Label.Text, p.Y.Label.Text = "time from the answer, in times of one write", "share of the changes"
	p.Y.Min, p.Y.Max = 0, 1
	for _, kind := range slices.Sorted(maps.Keys(r.Latencies)) {
		idle := r.Latencies[kind].Idle
		one := median(idle.Put)
		for _, series := range []struct {
			name    string
			samples []float64
			dashes  []vg.Length
		}{{"child changed", idle.Updated, nil}, {"ready", idle.Ready, []vg.Length{vg.Points(2), vg.Points(2)}}} {
			line, err := plotter.NewLine(distribution(series.samples, one))
			if err != nil {
				return err
			}
			line.Color, line.Dashes = colorOurs, series.dashes
			if kind != subjects[0].kind {
				line.Color = colorOther
			}
			p.Add(line)
			p.Legend.Add(kind+": "+series.name, line)
		}
	}
	p.Legend.Top, p.Legend.Left = false, false
	return p.Save(plotWidth, plotHeight, path)
}

// distribution returns the share of the samples up to each, in the given unit.
func distribution(samples []float64, unit float64) plotter.XYs {
	var points plotter.XYs
	for i, sample := range slices.Sorted(slices.Values(samples)) {
		points = append(points, plotter.XY{X: sample / unit, Y: float64(i+1) / float64(len(samples))})
	}
	return points
}

// plotSizes shows what an EGApp costs by how many there are, as shares of what it costs where there are the fewest.
func (r *report) plotSizes(path string) error {
	p := plot.New()
	p.Title.Text = "What one more EGApp costs, by how many there are"
	p.Y.Label.Text = fmt.Sprintf("of what it costs at %d", r.Sizes.Sizes[0].N)
	p.Y.Min = 0
	var names []string
	var heap, time plotter.Values
	first := r.Sizes.Sizes[0]
	for _, z := range r.Sizes.Sizes {
		names = append(names, fmt.Sprintf("%d EGApps", z.N))
		heap = append(heap, (z.HeapBytes-r.Sizes.EmptyHeapBytes)/float64(z.N)/((first.HeapBytes-r.Sizes.EmptyHeapBytes)/float64(first.N)))
		time = append(time, z.SecondsEach/first.SecondsEach)
	}
	for i, series := range []struct {
		name   string
		values plotter.Values
		color  color.Color
	}{{"heap", heap, colorOurs}, {"time to ready", time, colorOther}} {
		bars, err := plotter.NewBarChart(series.values, barWidth/2)
		if err != nil {
			return err
		}
		bars.Color, bars.Offset = series.color, vg.Length(float64(i)-0.5)*barWidth/2
		p.Add(bars)
		p.Legend.Add(series.name, bars)
	}
	p.NominalX(names...)
	p.Y.Max = max(2, p.Y.Max)
	if err := addBounds(p, -0.5, float64(len(names))-0.5, 1.1, 1.3); err != nil {
		return err
	}
	p.Legend.Top = true
	return p.Save(plotWidth, plotHeight, path)
}
