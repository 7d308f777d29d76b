// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package choice

import (
	"slices"
	"strings"
	"testing"
)

// oddNames are names with characters that shells, regular expressions or this package give a meaning to.
var oddNames = []string{
	"EGApp/create/409/apply-services-1", "EGApp/create/two/409:apply-services-1+reset:delete-ingresses-1",
	"leader killed", "a  b", " a", "a ", "a\tb\nc\r\nd", "a\u00a0b\u2028c\u0085d\u3000e", "it's", `"a\nb" -> $HOME`,
	"value/x: ^2^63$", `back\slash`, "[0].(a|b)*{2}?", "a\u200bb\u202e", "\u0430pp \U0001f680", "-n", "#", "`true` $(true)", "%s",
}

// TestNames tells which names a text asks for, and that how they begin may be asked for too.
func TestNames(t *testing.T) {
	names := []string{"EGApp/create/409/x-1", "EGApp/create/409/x-11", "EGApp/update/409/x-1", "DemoMicroService/create/reset/y-1"}
	for text, want := range map[string][]int{
		"":                      {0, 1, 2, 3},
		" \t\n":                 {0, 1, 2, 3},
		".*":                    {0, 1, 2, 3},
		"EGApp/.*":              {0, 1, 2},
		"EGApp/create/409/x-1":  {0},
		"EGApp/create/409/x":    nil,
		"create/409/x-1":        nil,
		".*/409/.*-1":           {0, 2},
		"(?i)egapp/.*1":         {0, 1, 2},
		"^EGApp/create/.*$":     {0, 1},
		"E.*/(create|up.*)/.*1": {0, 1, 2},
		"EGApp/u.*|Demo.*":      {2, 3},
		"EGApp/u.*  Demo.*\n":   {2, 3},
		`EGApp\/create.*x\-11`:  {1},
	} {
		asked, err := ParseNames(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if isGiven := strings.TrimSpace(text) != ""; asked.Given() != isGiven {
			t.Errorf("%q gives names: %t", text, asked.Given())
		}
		for i, name := range names {
			if got := asked.Has(name); got != slices.Contains(want, i) {
				t.Errorf("%q asks for %s: %t", text, name, got)
			}
			for end := range name {
				if asked.Has(name) && !asked.MayHave(name[:end]) {
					t.Errorf("%q asks for %s and leaves out what begins with %q", text, name, name[:end])
				}
			}
		}
	}
}

// TestMayHave tells that what begins otherwise is left out.
func TestMayHave(t *testing.T) {
	asked, err := ParseNames("EGApp/create/409/x-1 " + Quote("another application") + " value/.*")
	if err != nil {
		t.Fatal(err)
	}
	for begin, want := range map[string]bool{
		"": true, "E": true, "EGApp/create/": true, "EGApp/create-big/": false, "EGApp/create/409/y": false,
		"another application": true, "another one": false,
		"value/": true, "value/x/y": true, "values": false, "name/": false,
	} {
		if got := asked.MayHave(begin); got != want {
			t.Errorf("what begins with %q may be asked for: %t", begin, got)
		}
	}
}

// TestQuote tells that a name that is quoted asks for it and no other, in one line and one word.
func TestQuote(t *testing.T) {
	for _, name := range oddNames {
		quoted := Quote(name)
		if len(strings.Fields(quoted)) != 1 || strings.ContainsAny(quoted, "'\n") {
			t.Errorf("%q is quoted as %q", name, quoted)
		}
		asked, err := ParseNames(quoted)
		if err != nil {
			t.Errorf("%q is quoted as %s: %v", name, quoted, err)
			continue
		}
		if !asked.MayHave(name) {
			t.Errorf("%s leaves %q out", quoted, name)
		}
		for _, other := range oddNames {
			if asked.Has(other) != (other == name) {
				t.Errorf("%s asks for %q: %t", quoted, other, asked.Has(other))
			}
		}
	}
}
