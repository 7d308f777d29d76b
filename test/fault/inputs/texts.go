// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import "strings"

// hostile are texts that a careless reader takes for something else.
var hostile = []struct{ name, text string }{
	{"blank", " "}, {"inner blank", "a b"}, {"newline", "a\nb"}, {"CR LF", "a\r\nx: y"}, {"NUL", "a\x00b"},
	{"look-alike", "\u0430pp"}, {"right to left", "\u202ega"}, {"zero width", "a\u200bb"}, {"emoji", "\U0001f680"},
	{"variable", "$(HOME)"}, {"template", "{{ .Values.x }}"}, {"parent folder", "../.."}, {"slash", "/"}, {"star", "*"},
	{"selector", "a,b=c"}, {"qualified", "kubernetes.io/x"}, {"ours", "platform.evillgenius.com/adopt-by"},
	{"capital", "A"}, {"digit", "1"}, {"dash", "-"}, {"trailing dash", "a-"}, {"dots", "a..b"},
	{"JSON", `{"a":[1]}`}, {"YAML", "a: [b, *c]"}, {"null word", "null"}, {"merge directive", "$patch"},
	{"63 characters", strings.Repeat("a", 63)}, {"64 characters", strings.Repeat("a", 64)},
	{"253 characters", strings.Repeat("a", 253)}, {"254 characters", strings.Repeat("a", 254)},
}

// quantities are numbers with and without units, as a person may write them.
var quantities = []string{
	`"0"`, `0`, `"1"`, `1`, `"-1"`, `"1n"`, `"0.5"`, `0.5`, `"1e3"`, `"1E3"`, `"1Ki"`, `"1.0"`,
	`"1000m"`, `"64Mi"`, `"100Gi"`, `"1e-30"`, `"9E"`,
	`"99999999999999999999"`, `9223372036854775807`, `9223372036854775808`, `"1e400"`,
	`""`, `" 1"`, `"1 Gi"`, `"1GB"`, `"NaN"`, `"abc"`,
}

// mebibyte is a text that fits into an object, but hardly beside a second one.
const mebibyte = 1 << 20
