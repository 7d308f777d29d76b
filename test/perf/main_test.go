// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"platformapp/internal/localcluster"
)

func TestMain(m *testing.M) {
	localcluster.ServeReaper()
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// Everything is measured, of a few applications. What is counted must be as the budgets say on any machine; what is timed,
// and what is divided by so few, says nothing here.
func TestTheCountsAreAsTheBudgetsSay(t *testing.T) {
	out := t.TempDir()
	o, err := parseOptions([]string{"-n=10", "-rounds=1", "-scale=20", "-foreign=20", "-changes=5", "-rest=2s", "-churn=2s"}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	r, err := measure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	counts := 0
	for _, f := range r.Figures {
		isCount := strings.Contains(f.Name, "writes") || f.Unit == "requests"
		if !isCount {
			continue
		}
		counts++
		if f.verdict() != meetsGoal {
			t.Errorf("%s: %v %s, want at most %v", f.Name, f.Measured, f.Unit, *f.Goal)
		}
	}
	if counts < 7 {
		t.Errorf("only %d counts", counts)
	}
	if err := r.write(out); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(out, "figures.json"))
	if err != nil {
		t.Fatal(err)
	}
	var written report
	if err := json.Unmarshal(content, &written); err != nil {
		t.Fatal(err)
	}
	if len(written.Figures) != len(r.Figures) {
		t.Errorf("%d figures are written, %d were measured", len(written.Figures), len(r.Figures))
	}
	var table strings.Builder
	r.print(&table)
	if lines := strings.Split(strings.TrimSpace(table.String()), "\n"); !strings.HasPrefix(lines[len(lines)-1], "bench: ") {
		t.Errorf("the last line is %s", lines[len(lines)-1])
	}
}
