// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"
)

func countPods(n int32) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

// someOf says that so many of all pods do or are something, in the singular or plural.
func someOf(n, all int32, singular, plural string) string {
	verb := plural
	if n == 1 || all == 1 {
		verb = singular
	}
	return fmt.Sprintf("%d of %s %s", n, countPods(all), verb)
}

// maxListed bounds the items that a message names.
const maxListed = 5

func bounded(items []string) string {
	if len(items) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:maxListed], ", "), len(items)-maxListed)
	}
	return strings.Join(items, ", ")
}

// joined joins sentences, of which some may be empty.
func joined(sentences ...string) string {
	isEmpty := func(s string) bool { return s == "" }
	return strings.Join(slices.DeleteFunc(sentences, isEmpty), " ")
}

// sentence ends a text that is somebody else's with a full stop, unless it has an end.
func sentence(text string) string {
	if text = strings.TrimRight(text, " \n\t"); text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// quoted joins what is somebody else's words to a lead, which ends with a full stop if
// there are none.
func quoted(lead, words string) string {
	if words = sentence(words); words == "" {
		return lead + "."
	}
	return lead + ": " + words
}
