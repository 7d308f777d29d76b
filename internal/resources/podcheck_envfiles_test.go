// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// What is refused here the server would refuse too, and what it takes is not.
func TestVariableFromAFileNeedsItsScratchVolume(t *testing.T) {
	c, namespace := newNamespace(t)
	const variable = `env: [{name: X, value: x}, {name: A, valueFrom: {fileKeyRef: {volumeName: vars, path: a.env, key: A}}}]`
	const main = `podTemplatePatch: {spec: {containers: [{name: main, ` + variable + `}], volumes: `
	const sidecar = `podTemplatePatch: {spec: {containers: [{name: proxy, image: "proxy:1", ` + variable + `}], volumes: `
	for _, test := range []struct{ name, spec, want string }{
		{"no volume", `{` + variable + `}`, `spec.env[1].valueFrom.fileKeyRef.volumeName: Invalid value: "vars": the variable A of the container orders is in a file of this volume, but the pods have none of this name`},
		{"no volume beside a patch", `{` + variable + `, podTemplatePatch: {spec: {hostname: a}}}`, "spec.env[1].valueFrom.fileKeyRef.volumeName: Invalid value"},
		{"no volume, all in the patch", `{` + main + `[]}}}`, "spec.podTemplatePatch.spec.volumes: Invalid value"},
		{"volume of another kind", `{` + variable + `, podTemplatePatch: {spec: {volumes: [{name: vars, configMap: {name: a}}]}}}`, "which must be an emptyDir"},
		{"sidecar, volume of another kind", `{` + sidecar + `[{name: vars, persistentVolumeClaim: {claimName: a}}]}}}`, "which must be an emptyDir"},
		{"volume of the patch", `{` + variable + `, podTemplatePatch: {spec: {volumes: [{name: vars, emptyDir: {}}]}}}`, ""},
		{"all in the patch", `{` + main + `[{name: vars, emptyDir: {}}]}}}`, ""},
		{"sidecar", `{` + sidecar + `[{name: vars, emptyDir: {}}]}}}`, ""},
		{"the generated volume", `{framework: go, env: [{name: A, valueFrom: {fileKeyRef: {volumeName: tmp, path: a.env, key: A}}}]}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := refusal(t, test.spec)
			if test.want != "" {
				if !strings.Contains(got, test.want) {
					t.Errorf("is refused with %q, want %q in it", got, test.want)
				}
				return
			}
			for _, child := range resources.Desired(workloadWith(t, test.spec), workload.Observed{}) {
				if child.Kind == workload.KindDeployment {
					applyChild(t, c, namespace, child, client.DryRunAll)
				}
			}
		})
	}
}
