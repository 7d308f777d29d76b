// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package choice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Names are patterns of names. Without any, all names are as good as another.
type Names []pattern

// pattern matches whole names.
type pattern struct {
	whole *regexp.Regexp
	// begin is what every name that matches begins with.
	begin string
}

// ParseNames reads regular expressions that stand between blanks; each has to match the whole of a name.
func ParseNames(text string) (Names, error) {
	var names Names
	for field := range strings.FieldsSeq(text) {
		// Alone first: what only closes the parenthesis below is no expression, and an anchor would hide the beginning.
		part, err := regexp.Compile(field)
		if err != nil {
			return nil, err
		}
		begin, _ := part.LiteralPrefix()
		names = append(names, pattern{regexp.MustCompile("^(?:" + field + ")$"), begin})
	}
	return names, nil
}

// Given tells whether names are asked for at all.
func (n Names) Given() bool { return len(n) > 0 }

// Has tells whether a name is asked for.
func (n Names) Has(name string) bool {
	return !n.Given() || slices.ContainsFunc(n, func(p pattern) bool { return p.whole.MatchString(name) })
}

// MayHave tells whether a name that begins so may be asked for, as far as the patterns show how theirs begin: it spares what
// those names alone need.
func (n Names) MayHave(begin string) bool {
	return !n.Given() || slices.ContainsFunc(n, func(p pattern) bool {
		return strings.HasPrefix(p.begin, begin) || strings.HasPrefix(begin, p.begin)
	})
}

// Quote returns the expression that matches a name and no other. It stands between single quotes in a shell, and has neither
// blanks, which would separate it, nor what a terminal does not show.
func Quote(name string) string {
	var quoted strings.Builder
	for _, r := range name {
		if r == '\'' || r == ' ' || !unicode.IsPrint(r) {
			fmt.Fprintf(&quoted, `\x{%x}`, r)
		} else {
			quoted.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return quoted.String()
}
