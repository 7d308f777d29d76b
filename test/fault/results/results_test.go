// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platformapp/test/fault/results"
)

func TestTableSumsUpWhatWasRecorded(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	t.Setenv(results.FolderEnv, folder)
	var recorded sync.WaitGroup
	for i := range 20 {
		recorded.Go(func() {
			results.Record("killed after a write", "EGApp", fmt.Sprintf("EGApp/update/killed-after/%d", i))
		})
	}
	recorded.Wait()
	results.Record("429", "DemoMicroService", "DemoMicroService/create/429/apply-deployments-1", "it ends otherwise:\n- a\n+ b\n", "it never rests")
	results.Record("429", "EGApp", "EGApp/create/429/apply-deployments-1")
	// What another process left.
	other := `{"class":"answer lost","kind":"DemoMicroService","plan":"DemoMicroService/create/answer-lost/apply-deployments-1"}` + "\n"
	if err := os.WriteFile(filepath.Join(folder, "other.jsonl"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}

	all, err := results.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	violations, err := results.Print(&got, all)
	if err != nil {
		t.Fatal(err)
	}
	if violations != 2 {
		t.Errorf("%d violations, want 2", violations)
	}
	want := `DemoMicroService/create/429/apply-deployments-1: it ends otherwise:
- a
+ b
DemoMicroService/create/429/apply-deployments-1: it never rests

| fault | DemoMicroService | EGApp | plans | violations |
| --- | --: | --: | --: | --: |
| 429 | 1 | 1 | 2 | 2 |
| answer lost | 1 | 0 | 1 | 0 |
| killed after a write | 0 | 20 | 20 | 0 |
| **all** | 2 | 21 | 23 | 2 |

23 plans, 2 violations
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNothingIsWrittenWithoutAFolder(t *testing.T) {
	t.Setenv(results.FolderEnv, "")
	t.Chdir(t.TempDir())
	results.Record("429", "EGApp", "EGApp/create/429/apply-deployments-1")
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

func TestLostResultsAreNoticed(t *testing.T) {
	if _, err := results.Read(t.TempDir()); err == nil {
		t.Error("a folder without results is read as a campaign without violations")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "1.jsonl"), []byte(`{"class":"429","ki`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := results.Read(folder); err == nil {
		t.Error("half a line is read as a result")
	}
	t.Setenv(results.FolderEnv, filepath.Join(folder, "1.jsonl"))
	defer func() {
		if recover() == nil {
			t.Error("a result is lost without a word")
		}
	}()
	results.Record("429", "EGApp", "EGApp/create/429/apply-deployments-1")
}
