// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"slices"
	"testing"

	"platformapp/test/fault/proxy"
)

// TestRelists tells that lists are counted by resource, and that watches which go on are none.
func TestRelists(t *testing.T) {
	list, watch := proxy.Request{Verb: "list", Resource: "pods"}, proxy.Request{Verb: "watch", Resource: "services"}
	requests := append(slices.Repeat([]proxy.Request{list}, 3), slices.Repeat([]proxy.Request{watch}, 9)...)
	if found := relists(requests, 3); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	if found := relists(requests, 2); !slices.Equal(found, []string{"3 lists of pods, at most 2"}) {
		t.Errorf("found %q", found)
	}
}
