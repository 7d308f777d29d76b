// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"fmt"
	"strings"
)

// Table returns the mutants as a table in markdown, a row for each, as docs/reliability.md has it.
func Table() string {
	var table strings.Builder
	table.WriteString("| mutant | what goes wrong | known from | found by the plan |\n|---|---|---|---|\n")
	for _, m := range All() {
		plans := make([]string, len(m.Plans))
		for i, plan := range m.Plans {
			plans[i] = "`" + plan + "`"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", m.Name, m.Bug, m.Source, strings.Join(plans, ", "))
	}
	return table.String()
}
