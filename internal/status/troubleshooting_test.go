// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"platformapp/api/appstatus"
)

// docs/troubleshooting.md shows what a person sees: each of its rows is a reason with a
// message that a situation really gives, and each reason of Ready has one.
func TestTroubleshootingShowsWhatIsSaid(t *testing.T) {
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, found := range regexp.MustCompile("(?m)^\\| (`[A-Za-z]+` \\| [^|]+) \\| [^|]+ \\|$").FindAllSubmatch(page, -1) {
		if shown[string(found[1])] {
			t.Errorf("docs/troubleshooting.md has more than one row that begins with\n| %s |", found[1])
		}
		shown[string(found[1])] = true
	}
	documented, said := map[string]bool{}, map[string]bool{}
	for _, test := range rows() {
		if !test.want.documented {
			continue
		}
		ready := condition(t, test.scene.compute(), appstatus.ConditionReady)
		documented[ready.Reason] = true
		start := "`" + ready.Reason + "` | " + ready.Message
		if !shown[start] {
			t.Errorf("docs/troubleshooting.md has no row that begins with\n| %s |", start)
		}
		said[start] = true
	}
	for start := range shown {
		if said[start] {
			continue
		}
		t.Errorf("docs/troubleshooting.md has a row of which no situation gives the message:\n| %s |", start)
	}
	notOfReady := []string{
		appstatus.ReasonMinimumAvailable, appstatus.ReasonMinimumUnavailable, appstatus.ReasonAtRest, appstatus.ReasonNotStalled, appstatus.ReasonDriftRepaired,
	}
	for _, reason := range reasons(t) {
		if !documented[reason] && !slices.Contains(notOfReady, reason) {
			t.Errorf("no row of the reason %s is documented", reason)
		}
	}
}
