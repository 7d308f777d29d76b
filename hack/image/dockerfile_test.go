// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseReadsTheLastStage(t *testing.T) {
	got, err := parse(`
# A comment.
ARG BASE=registry.example.com/base:1
FROM --platform=$BUILDPLATFORM golang:1.26 AS builder
ARG VERSION=devel
WORKDIR /workspace
RUN go build -o 'it' .
LABEL stage="the first"

from ${BASE}
ARG VERSION=devel
ARG REVISION
LABEL plain=value \
      # between two lines
      two="two words" version="v${VERSION}" revision="$REVISION"
LABEL architecture=$TARGETARCH empty=""
COPY --from=builder /out/manager /manager
COPY LICENSE NOTICE /licenses/
USER 65532:65532
ENTRYPOINT ["/manager", "a b"]
CMD ["--flag"]
`, map[string]string{"VERSION": "0.1.0"}, map[string]string{"TARGETARCH": "arm64", "BUILDPLATFORM": "linux/amd64"})
	if err != nil {
		t.Fatal(err)
	}
	want := &stage{
		base: "registry.example.com/base:1",
		copies: []copyFiles{
			{from: "builder", sources: []string{"/out/manager"}, target: "/manager"},
			{sources: []string{"LICENSE", "NOTICE"}, target: "/licenses/"},
		},
		labels: map[string]string{
			"plain": "value", "two": "two words", "version": "v0.1.0", "revision": "", "architecture": "arm64", "empty": "",
		},
		user:       "65532:65532",
		entrypoint: []string{"/manager", "a b"},
		cmd:        []string{"--flag"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(stage{}, copyFiles{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What cannot be carried out exactly as docker would is refused, never left out.
func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ dockerfile, want string }{
		"nothing":               {"# empty\n", "there is no FROM"},
		"a command":             {"FROM scratch\nRUN true\n", "line 2: RUN: cannot be carried out"},
		"an early instruction":  {"USER 1\nFROM scratch\n", "line 1: USER stands before the first FROM"},
		"an unknown variable":   {"FROM scratch\nLABEL a=$B\n", "the variable B is not declared by ARG"},
		"a default":             {"FROM scratch\nARG B\nLABEL a=${B:-c}\n", "the variable B:-c is not declared"},
		"an open quote":         {"FROM scratch\nLABEL a=\"b\n", "a quote is not closed"},
		"single quotes":         {"FROM scratch\nLABEL a='b'\n", "' is not known here"},
		"a label of two words":  {"FROM scratch\nLABEL a b\n", `"a" is not of the form key=value`},
		"a flag of COPY":        {"FROM scratch\nCOPY --chown=1 a b\n", "the flag --chown=1 is not known here"},
		"COPY to nowhere":       {"FROM scratch\nCOPY a\n", "wants what to copy and where to"},
		"an entrypoint's shell": {"FROM scratch\nENTRYPOINT /manager\n", "line 2: ENTRYPOINT"},
		"a stage on a stage":    {"FROM scratch AS one\nFROM one\n", "line 2: FROM: one is a stage"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(c.dockerfile, nil, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
