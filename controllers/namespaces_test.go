// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNamespaces(t *testing.T) {
	for _, test := range []struct {
		name, list string
		want       []string
	}{
		{"empty means all", "", nil},
		{"blanks alone mean all", " ", nil},
		{"one", "team-a", []string{"team-a"}},
		{"several are sorted", "team-b,team-a", []string{"team-a", "team-b"}},
		{"blanks and empty items do not count", " team-b , ,team-a,", []string{"team-a", "team-b"}},
		{"line ends do not count", "team-a,\nteam-b\n", []string{"team-a", "team-b"}},
		{"each counts once", "team-a,team-b,team-a, team-a", []string{"team-a", "team-b"}},
		{"a digit first", "0-team", []string{"0-team"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseNamespaces(test.list)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A misspelt namespace would be watched in vain.
func TestParseNamespacesNamesTheOneThatIsNone(t *testing.T) {
	for list, culprit := range map[string]string{
		"team-a,Team-B":                "Team-B",
		"team-a team-b":                "team-a team-b",
		"team-a;team-b":                "team-a;team-b",
		"team.a":                       "team.a",
		"*":                            "*",
		"-":                            "-",
		" , ,":                         " , ,",
		"a," + strings.Repeat("b", 64): strings.Repeat("b", 64),
	} {
		got, err := ParseNamespaces(list)
		if err == nil || !strings.Contains(err.Error(), `"`+culprit+`"`) || got != nil {
			t.Errorf("ParseNamespaces(%q) = %v, %v, want an error that names %q", list, got, err, culprit)
		}
	}
}
