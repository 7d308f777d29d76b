// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
)

// What operator-sdk reads is one TestStatus, whatever is wrong.
func TestWhateverIsWrongIsAResult(t *testing.T) {
	every := strings.Join(names(), ", ")
	for _, test := range []struct {
		args  []string
		state v1alpha3.State
		words string
	}{
		{nil, v1alpha3.ErrorState, "no test is named; the tests are " + every},
		{[]string{"samples-become-redy"}, v1alpha3.FailState, `there is no test "samples-become-redy"; the tests are ` + every},
		{[]string{"drift-is-repaired", "list"}, v1alpha3.ErrorState, "one test runs at a time, and 2 are named: drift-is-repaired, list"},
		{[]string{"--nmespace=a", "drift-is-repaired"}, v1alpha3.ErrorState, "flag provided but not defined: -nmespace"},
		{[]string{"--timeout=soon", "drift-is-repaired"}, v1alpha3.ErrorState, `invalid value "soon" for flag -timeout`},
		{[]string{"drift-is-repaired"}, v1alpha3.ErrorState, "SCORECARD_NAMESPACE is not set"},
		{[]string{"--namespace=a", "--bundle=" + t.TempDir(), "drift-is-repaired"}, v1alpha3.ErrorState, "read the bundle in "},
	} {
		var stdout bytes.Buffer
		code := run(t.Context(), test.args, func(string) string { return "" }, &stdout)
		var status v1alpha3.TestStatus
		decoder := json.NewDecoder(&stdout)
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&status); err != nil || len(status.Results) != 1 || decoder.More() {
			t.Errorf("%q prints no single result: %v", test.args, err)
			continue
		}
		result := status.Results[0]
		if code != 1 || result.State != test.state || len(result.Errors) != 1 || !strings.Contains(result.Errors[0], test.words) {
			t.Errorf("%q gives the exit code %d and %+v, want %s %q", test.args, code, result, test.state, test.words)
		}
	}
}

func TestListAndHelpAreForPeople(t *testing.T) {
	for arg, wants := range map[string][]string{
		"list":   append(names(), "every example of the bundle becomes Ready"),
		"--help": {"-namespace", "-bundle", "-timeout", "the folder of the bundle", namespaceVariable},
	} {
		var stdout bytes.Buffer
		if code := run(t.Context(), []string{arg}, func(string) string { return "" }, &stdout); code != 0 {
			t.Errorf("%s gives the exit code %d", arg, code)
		}
		for _, want := range wants {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("%s lacks %q:\n%s", arg, want, &stdout)
			}
		}
	}
}
