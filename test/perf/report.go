// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"
)

// report is all that was measured.
type report struct {
	Machine   machine              `json:"machine"`
	Figures   []figure             `json:"figures"`
	Requests  []requests           `json:"requests"`
	Rates     []rates              `json:"rates"`
	Latencies map[string]latencyOf `json:"latencies"`
	Sizes     sizes                `json:"sizes"`
	Foreign   []growth             `json:"foreign"`
}

// latencyOf are the latencies of a kind.
type latencyOf struct {
	Idle *latencies `json:"idle"`
	Busy *latencies `json:"atHalfTheLimit"`
}

// machine says where it was measured.
type machine struct {
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
	OS   string `json:"os"`
	Date string `json:"date"`
}

func thisMachine() machine {
	return machine{
		CPUs: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH,
		Date: time.Now().Format(time.DateOnly),
	}
}

// add adds what was measured of a kind.
func (r *report) add(s subject, counted requests, compared rates, idle, busy *latencies) {
	if r.Latencies == nil {
		r.Latencies = map[string]latencyOf{}
	}
	r.Requests, r.Rates = append(r.Requests, counted), append(r.Rates, compared)
	r.Latencies[s.kind] = latencyOf{idle, busy}
	r.Figures = append(r.Figures, compared.figures()...)
	r.Figures = append(r.Figures, counted.figures()...)
	r.Figures = append(r.Figures, latencyFigures(s.kind, idle, busy)...)
}

// conclude adds the figures that are not of one kind.
func (r *report) conclude() {
	r.Figures = append(r.Figures, r.Sizes.figures()...)
	r.Figures = append(r.Figures, foreignFigures(r.Foreign)...)
}

// isVoid tells whether the bare loop varied too much for the rates to say anything.
func (r *report) isVoid() bool {
	for _, compared := range r.Rates {
		if compared.isVoid() {
			return true
		}
	}
	return false
}

// print prints the table and the summary line, and tells whether every floor is met by a run that counts.
func (r *report) print(out io.Writer) bool {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	write := func(cells ...any) { _, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cells...) }
	write("figure", "measured", "spread", "goal", "floor", "meets", "of the goal; how")
	counts := map[verdict]int{}
	for _, f := range r.Figures {
		counts[f.verdict()]++
		between := ""
		if f.Low != nil {
			between = fmt.Sprintf("%s to %s", number(*f.Low), number(*f.High))
		}
		write(f.Name, number(f.Measured)+" "+f.Unit, between, bound(f.Goal), bound(f.Floor), string(f.verdict()),
			joined(f.ofGoal(), f.Note))
	}
	_ = table.Flush()
	state := "valid"
	if r.isVoid() {
		state = fmt.Sprintf("VOID (the bare loop varies by more than %.0f %%)", 100*voidSpread)
	}
	_, _ = fmt.Fprintf(out, "bench: %d goals met, %d floors met, %d goals short, %d floors missed; run %s\n",
		counts[meetsGoal], counts[meetsFloor], counts[short], counts[missed], state)
	return counts[missed] == 0 && !r.isVoid()
}

func number(v float64) string {
	switch {
	case v != 0 && v > -0.01 && v < 0.01:
		return fmt.Sprintf("%.5f", v)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

func bound(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}

func joined(parts ...string) string {
	out := ""
	for _, part := range parts {
		if part != "" && out != "" {
			out += "; "
		}
		out += part
	}
	return out
}

// write writes the figures and the plots into a folder.
func (r *report) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "figures.json"), append(content, '\n'), 0o644); err != nil {
		return err
	}
	return r.plot(dir)
}
