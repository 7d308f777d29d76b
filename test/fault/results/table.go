// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// count is the number of plans of a row, or of a column of it, and of violations.
type count struct{ plans, violations int }

func (c count) plus(violations int) count { return count{c.plans + 1, c.violations + violations} }

// Print writes the violations, if any, then a table with a row for each class of fault and a column for each kind, as
// markdown, and last the line "N plans, M violations". It returns M.
func Print(out io.Writer, all []Result) (int, error) {
	rows, kinds := map[string]map[string]count{}, map[string]count{}
	var total count
	var text strings.Builder
	for _, r := range all {
		if rows[r.Class] == nil {
			rows[r.Class] = map[string]count{}
		}
		n := len(r.Violations)
		rows[r.Class][r.Kind] = rows[r.Class][r.Kind].plus(n)
		kinds[r.Kind] = kinds[r.Kind].plus(n)
		total = total.plus(n)
		for _, violation := range r.Violations {
			fmt.Fprintf(&text, "%s: %s\n", r.Plan, strings.TrimSpace(violation))
		}
	}
	if text.Len() > 0 {
		text.WriteByte('\n')
	}
	columns := slices.Sorted(maps.Keys(kinds))
	line := func(cells ...string) { text.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(append(append([]string{"fault"}, columns...), "plans", "violations")...)
	line(append([]string{"---"}, slices.Repeat([]string{"--:"}, len(columns)+2)...)...)
	row := func(name string, cells map[string]count) {
		values, sum := []string{name}, count{}
		for _, kind := range columns {
			values = append(values, fmt.Sprint(cells[kind].plans))
			sum.plans, sum.violations = sum.plans+cells[kind].plans, sum.violations+cells[kind].violations
		}
		line(append(values, fmt.Sprint(sum.plans), fmt.Sprint(sum.violations))...)
	}
	for _, class := range slices.Sorted(maps.Keys(rows)) {
		row(class, rows[class])
	}
	row("**all**", kinds)
	fmt.Fprintf(&text, "\n%d plans, %d violations\n", total.plans, total.violations)
	_, err := io.WriteString(out, text.String())
	return total.violations, err
}
