// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"platformapp/internal/workload"
)

func TestReferencesAreWhatThePodsUse(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		want       workload.References
	}{
		{"nothing", `{}`, workload.References{}},
		{"Secrets", `{env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: a}}}], envFrom: [{secretRef: {name: s}}], files: [{mountPath: /s, secret: {secretName: s}}]}`, workload.References{}},
		{"keys of variables", `{env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: b}}}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: a, optional: true}}}, {name: C, valueFrom: {configMapKeyRef: {name: c, key: b, optional: true}}}]}`,
			workload.References{ConfigMaps: []workload.ConfigMapReference{{Name: "c", Keys: []string{"b"}, OptionalKeys: []string{"a"}}}}},
		{"every key", `{envFrom: [{configMapRef: {name: z}}, {configMapRef: {name: a, optional: true}}]}`,
			workload.References{ConfigMaps: []workload.ConfigMapReference{{Name: "a", All: true, Optional: true}, {Name: "z", All: true}}}},
		{"files", `{files: [{mountPath: /a, configMap: {name: all}}, {mountPath: /b, configMap: {name: some, items: [{key: k, path: p}], optional: true}}]}`,
			workload.References{ConfigMaps: []workload.ConfigMapReference{{Name: "all", All: true}, {Name: "some", OptionalKeys: []string{"k"}, Optional: true}}}},
		{"claims", `{files: [{mountPath: /a, persistentVolumeClaim: {claimName: written}}, {mountPath: /b, readOnly: true, persistentVolumeClaim: {claimName: read}}]}`,
			workload.References{Claims: []string{"read", "written"}}},
		{"account", `{serviceAccountName: orders-sa}`, workload.References{ServiceAccount: "orders-sa"}},
		{"the patch's containers and volumes", `
env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: a}}}]
files: [{mountPath: /r, readOnly: true, persistentVolumeClaim: {claimName: read}}]
podTemplatePatch:
  spec:
    initContainers: [{name: i, image: "i:1", envFrom: [{configMapRef: {name: init}}]}]
    containers:
    - {name: main, env: [{name: A, value: plain}]}
    - {name: s, image: "s:1", volumeMounts: [{name: w, mountPath: /w}]}
    volumes:
    - {name: w, persistentVolumeClaim: {claimName: written}}
    - {name: locked, persistentVolumeClaim: {claimName: locked, readOnly: true}}
    - {name: p, projected: {sources: [{configMap: {name: projected, items: [{key: k, path: p}]}}]}}
`, workload.References{
			ConfigMaps: []workload.ConfigMapReference{{Name: "init", All: true}, {Name: "projected", Keys: []string{"k"}}},
			Claims:     []string{"locked", "read", "written"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, workloadWith(t, test.spec).References); diff != "" {
				t.Error(diff)
			}
		})
	}
}
