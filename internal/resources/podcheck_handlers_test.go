// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"strings"
	"testing"
)

// Each of them would be refused in new pods, and some be dropped in silence from those that are there.
func TestAHookOrProbeWithoutHandlerIsRefused(t *testing.T) {
	for _, test := range []struct{ container, want string }{
		{`{name: x, image: "x:1", lifecycle: {preStop: {}}}`, "exec, httpGet, sleep, tcpSocket for the lifecycle.preStop of the container x"},
		{`{name: x, image: "x:1", lifecycle: {postStart: {exec: null}}}`, "for the lifecycle.postStart of the container x"},
		{`{name: x, image: "x:1", readinessProbe: {periodSeconds: 5}}`, "exec, grpc, httpGet, tcpSocket for the readinessProbe of the container x"},
		{`{name: x, image: "x:1", livenessProbe: {httpGet: null}}`, "for the livenessProbe of the container x"},
		{`{name: x, image: "x:1", lifecycle: {preStop: {sleep: {seconds: 1}}}, readinessProbe: {exec: {command: [a]}}}`, ""},
		{`{name: main, readinessProbe: {periodSeconds: 5}}`, ""},
	} {
		got := refusal(t, `{podTemplatePatch: {spec: {containers: [`+test.container+`]}}}`)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s is refused with %q, want %q", test.container, got, test.want)
		}
	}
}
