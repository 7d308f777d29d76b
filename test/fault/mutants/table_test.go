// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platformapp/internal/localcluster"
)

var update = flag.Bool("update", false, "write the table in docs/reliability.md anew")

// TestTheTableIsInTheDocumentation compares the table with what stands between its marks in docs/reliability.md.
func TestTheTableIsInTheDocumentation(t *testing.T) {
	const begin, end = "<!-- mutants: begin -->\n", "<!-- mutants: end -->\n"
	root, err := localcluster.CheckoutRoot()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "docs", "reliability.md")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(content), begin)
	got, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		t.Fatalf("%s has no place for the table, between %q and %q", path, begin, end)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+Table()+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != Table() {
		t.Errorf("the table is out of date: go test ./test/fault/mutants -run %s -update", t.Name())
	}
}
