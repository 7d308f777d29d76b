// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package appstatus_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"platformapp/api/appstatus"
)

// Scripts and alerts match the words: each is its constant's name without the prefix, so
// that a rename of one without the other is seen.
func TestWordsAreTheNamesOfTheirConstants(t *testing.T) {
	camelCase := regexp.MustCompile(`^([A-Z][a-z]+)+$`)
	for file, prefix := range map[string]string{"reasons.go": "Reason", "conditions.go": "Condition"} {
		words := constants(t, file, prefix)
		if len(words) == 0 {
			t.Errorf("no constants %s... in %s", prefix, file)
		}
		for name, word := range words {
			// Go writes ID where the word, as the field appId, has Id.
			if !strings.EqualFold(prefix+word, name) {
				t.Errorf("%s is %q", name, word)
			}
			if !camelCase.MatchString(word) {
				t.Errorf("%s is %q, which is not CamelCase", name, word)
			}
		}
	}
	for name, word := range constants(t, "conditions.go", "Phase") {
		if "Phase"+word != name {
			t.Errorf("%s is %q", name, word)
		}
	}
}

// What a person may have to act upon has a row; what is all right is named on the page.
func TestTroubleshootingExplainsEachReason(t *testing.T) {
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	ofOtherConditions := []string{
		appstatus.ReasonMinimumAvailable, appstatus.ReasonMinimumUnavailable, appstatus.ReasonAtRest, appstatus.ReasonNotStalled,
	}
	for name, reason := range constants(t, "reasons.go", "Reason") {
		place := "(?m)^\\|[^|]*`" + reason + "`"
		if slices.Contains(ofOtherConditions, reason) {
			place = "`" + reason + "`"
		}
		if !regexp.MustCompile(place).Match(page) {
			t.Errorf("docs/troubleshooting.md does not explain `%s` (%s)", reason, name)
		}
	}
}

func TestMaxPodsIsWhatTheSchemaAdmits(t *testing.T) {
	for _, schema := range []string{"egplatform.platform.evillgenius.com_egapps", "devops.my.domain_demomicroservices"} {
		raw, err := os.ReadFile("../../config/crd/bases/" + schema + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if want := "maxItems: " + strconv.Itoa(appstatus.MaxPods); strings.Count(string(raw), want) != 1 {
			t.Errorf("%s does not have %q once: a status with MaxPods names may be refused", schema, want)
		}
	}
}

// constants returns the string constants of a file whose names begin with prefix.
func constants(t *testing.T, file, prefix string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			literal, isLiteral := spec.Values[i].(*ast.BasicLit)
			if !strings.HasPrefix(name.Name, prefix) || !isLiteral {
				continue
			}
			word, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found[name.Name] = word
		}
		return true
	})
	return found
}
