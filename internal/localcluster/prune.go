// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// unusedAfter is how long a folder of the tools cache stays that nobody has asked for: other checkouts, on
// other branches, may come back to it.
const unusedAfter = 30 * 24 * time.Hour

// pruneTools marks the folders as used now and removes those of the cache that have not been used for a long
// time: each new version of a tool, or of Go, leaves one behind.
func pruneTools(cache string, used []string, now time.Time) error {
	var errs []error
	for _, folder := range used {
		errs = append(errs, os.Chtimes(folder, now, now))
	}
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		folder := filepath.Join(cache, entry.Name())
		if !entry.IsDir() || !isToolsFolder(entry.Name()) || slices.Contains(used, folder) {
			continue
		}
		info, err := entry.Info()
		if err == nil && now.Sub(info.ModTime()) > unusedAfter {
			errs = append(errs, os.RemoveAll(folder))
		}
	}
	return errors.Join(errs...)
}

// isToolsFolder tells whether a folder of that name was made by EnsureTools.
func isToolsFolder(name string) bool {
	if strings.HasPrefix(name, "bin-") {
		return true
	}
	return slices.ContainsFunc(toolModules, func(m toolModule) bool { return strings.HasPrefix(name, m.name+"-v") })
}
