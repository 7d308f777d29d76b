// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// FolderEnv names the environment variable with the folder that results are appended to. Unset, they are dropped.
const FolderEnv = "FAULT_RESULTS"

// suffix is what the name of a file of results ends with.
const suffix = ".jsonl"

// Result is what came of one plan: faults that were injected, and what was violated by the operator's answer to them.
type Result struct {
	// Class of the faults, as it stands in the table: "killed after a write".
	Class string `json:"class"`
	// Kind of the application that met them: EGApp or DemoMicroService.
	Kind string `json:"kind"`
	// Plan names the plan, so that it can be carried out again.
	Plan string `json:"plan"`
	// Violations are what the plan showed to be wrong, one a line; none is a success.
	Violations []string `json:"violations,omitempty"`
}

// mu makes the lines of one process whole; processes write to files of their own.
var mu sync.Mutex

// Record appends the result of one plan that was carried out, with its faults injected, to the folder that [FolderEnv] names.
// It may be called by many goroutines and processes at once. It panics when the folder cannot be written to, since a campaign
// whose results are lost must not look like one without violations.
func Record(class, kind, plan string, violations ...string) {
	folder := os.Getenv(FolderEnv)
	if folder == "" {
		return
	}
	line, err := json.Marshal(Result{Class: class, Kind: kind, Plan: plan, Violations: violations})
	if err == nil {
		mu.Lock()
		defer mu.Unlock()
		err = appendTo(filepath.Join(folder, fmt.Sprintf("%d%s", os.Getpid(), suffix)), append(line, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("record the result of plan %s: %v", plan, err))
	}
}

func appendTo(path string, line []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.Write(line); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
