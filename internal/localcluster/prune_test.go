// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestPruneRemovesWhatNobodyHasUsedForLong(t *testing.T) {
	cache, now := t.TempDir(), time.Now()
	long := now.Add(-unusedAfter - time.Hour)
	for name, used := range map[string]time.Time{
		"kubernetes-v1.36.0-aaaa": long, "bin-aaaa": long, "etcd-v3.6.0-aaaa": long,
		"kubernetes-v1.37.2-bbbb": long, "bin-bbbb": long, // asked for now
		"kwok-v0.8.0-cccc": now.Add(-unusedAfter + time.Hour), // another checkout's
		"something-else":   long,                              // not ours
	} {
		folder := filepath.Join(cache, name)
		if err := os.MkdirAll(filepath.Join(folder, "deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(folder, used, used); err != nil {
			t.Fatal(err)
		}
	}
	asked := []string{filepath.Join(cache, "kubernetes-v1.37.2-bbbb"), filepath.Join(cache, "bin-bbbb")}
	for range 2 {
		if err := pruneTools(cache, asked, now); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	want := []string{"bin-bbbb", "kubernetes-v1.37.2-bbbb", "kwok-v0.8.0-cccc", "something-else"}
	if !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
	if info, err := os.Stat(asked[0]); err != nil || now.Sub(info.ModTime()) > time.Minute {
		t.Errorf("what is asked for is not marked as used: %v, %v", info, err)
	}
}
