// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// What the server stores otherwise than it is applied would be written for ever: its defaults
// in what it owns as a whole, other spellings, zeros. N26, N27, N34, N42 and what they leave
// out, all at once.
func TestServerStoresPodsAsTheyAreApplied(t *testing.T) {
	spec := `
framework: go
ports: [{name: http, containerPort: 80}, {name: dns, containerPort: 5353, protocol: UDP}]
probes: {path: /health, liveness: {grpc: {port: 80}}, startup: {httpGet: {port: 80, path: /, httpHeaders: [{name: Host, value: a}]}, initialDelaySeconds: 0}}
imagePullSecrets: [{name: team-reg}]
envFrom: [{configMapRef: {name: cfg}}, {prefix: S_, secretRef: {name: s, optional: true}}]
env:
- {name: EMPTY, value: ""}
- {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.memory}}}
- {name: MEM, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1024Ki}}}
- {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}
files:
- {mountPath: /cm, configMap: {name: cfg, items: [{key: a, path: b}], defaultMode: 256}}
- {mountPath: /s, readOnly: true, secret: {secretName: s}}
- {mountPath: /data, persistentVolumeClaim: {claimName: d}, subPath: x}
- {mountPath: /scratch, emptyDir: {medium: Memory, sizeLimit: 1024Ki}}
podTemplatePatch:
  metadata: {annotations: {a: b}}
  spec:
    automountServiceAccountToken: false
    hostNetwork: false
    topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]
    affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {}}}]}}
    securityContext: {supplementalGroups: [5]}
` + indent(patchOfN27, "    ")
	w := workloadWith(t, spec)
	// More in the lists of N27's patch.
	w.PodTemplatePatch = patchedAlso(t, w.PodTemplatePatch, `
spec:
  tolerations: [{key: a, operator: Exists, value: "", tolerationSeconds: null}]
  volumes:
  - {name: t, projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: m, resourceFieldRef: {containerName: orders, resource: limits.memory}}]}}, {configMap: {name: c}}, {podCertificate: {signerName: example.com/x, keyType: ED25519, credentialBundlePath: p}}]}}
  - {name: w, downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}}
  - {name: e, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}}}
  containers: [{name: side, image: "busybox:1.37", ports: [{containerPort: 9}], resources: {requests: {cpu: 1000m}}, readinessProbe: {tcpSocket: {port: 9}}}]
`)
	references, errs := resources.CheckPods(w)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	w.References = references

	c, namespace := newNamespace(t)
	converter := applyconfigurations.NewTypeConverter(clientgoscheme.Scheme)
	for _, child := range resources.Desired(w, workload.Observed{}) {
		if child.Kind != workload.KindDeployment {
			continue
		}
		applied, stored := applyChild(t, c, namespace, child)
		if t.Failed() {
			return
		}
		live := &appsv1.Deployment{}
		readInto(t, stored, live)
		want, err := converter.ObjectToTyped(applied, typed.AllowDuplicates)
		if err != nil {
			t.Fatal(err)
		}
		have, err := converter.ObjectToTyped(live, typed.AllowDuplicates)
		if err != nil {
			t.Fatal(err)
		}
		comparison, err := have.Compare(want)
		if err != nil {
			t.Fatal(err)
		}
		if !comparison.Modified.Empty() || !comparison.Added.Empty() {
			t.Errorf("the server stores otherwise:\n%s\nor does not store:\n%s", comparison.Modified, comparison.Added)
		}
	}
}

// patchedAlso adds the lists of another patch to those of a patch.
func patchedAlso(t *testing.T, patch []byte, more string) []byte {
	t.Helper()
	var document map[string]any
	readInto(t, json.RawMessage(patch), &document)
	spec := document["spec"].(map[string]any)
	for name, list := range fromYAML(t, more).(map[string]any)["spec"].(map[string]any) {
		present, _ := spec[name].([]any)
		spec[name] = append(present, list.([]any)...)
	}
	var raw json.RawMessage
	readInto(t, document, &raw)
	return raw
}

// A sample of all patches that break no rule: the server would take the pods.
func TestServerTakesPatchedPods(t *testing.T) {
	c, namespace := newNamespace(t)
	const samples = 40
	for i := range samples {
		w := anyWorkload.Example(i)
		w.PodTemplatePatch = anyPatch.Example(i)
		for _, child := range resources.Desired(w, workload.Observed{}) {
			if child.Kind == workload.KindDeployment {
				applyChild(t, c, namespace, child, client.DryRunAll)
			}
		}
		if t.Failed() {
			t.Fatalf("sample %d: %s", i, w.PodTemplatePatch)
		}
	}
}
