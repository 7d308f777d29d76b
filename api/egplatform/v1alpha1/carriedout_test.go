// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// pieces are values of fields at the edge of what is allowed, on either side of it.
var pieces = map[string][]string{
	"framework":          {"java", "python", "go"},
	"environment":        {"dev", "stage", "prod"},
	"instanceType":       {"lowMem", "highCPU"},
	"replicaCount":       {"0", "1", "2147483647"},
	"appId":              {`"9"`, "A", "a_b.c", "9-9", letters63, "x--y"},
	"image":              {"a", "localhost:1/a", "a:b.c-d_e", "A/b"},
	"imagePullPolicy":    {"Never", "Always"},
	"imagePullSecrets":   {"[{name: a}]", "[{name: a.b}, {name: 1-2}]", "[{name: -a}]"},
	"command":            {"[]", `[""]`, `["a b", "$(A)"]`},
	"args":               {"[]", `["\u00e4", "$$(A)"]`},
	"ports":              {"[]", "[{name: a, containerPort: 1}]", "[{name: 9a, containerPort: 65535, servicePort: 1, protocol: SCTP, appProtocol: a.b/C_d}, {name: b, containerPort: 65535}]", "[{name: http, containerPort: 80, protocol: UDP}, {name: h, containerPort: 80}]", "[{name: a-b-c-d-e-f-g-h, containerPort: 1}]", "[{name: a, containerPort: 7, servicePort: 1}, {name: b, containerPort: 7, servicePort: 2}, {name: c, containerPort: 7, servicePort: 1, protocol: UDP}]"},
	"service":            {"{}", "{type: Headless}", "{type: NodePort}", "{type: LoadBalancer, annotations: {metallb.io/C: d}}", "{type: None}", "{annotations: {a/b/c: d}}"},
	"env":                {"[]", `[{name: "1", value: ""}]`, `[{name: "a b"}]`, `[{name: GOMEMLIMIT, value: "1"}, {name: PYTHONUNBUFFERED}]`, "[{name: A, valueFrom: {fieldRef: {fieldPath: status.hostIPs}}}]", "[{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['a/b']\"}}}]", "[{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.annotations['A']\"}}}]", "[{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1}}}]", "[{name: A, valueFrom: {resourceFieldRef: {resource: requests.hugepages-2Mi}}}]", "[{name: A, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1024}}}]", "[{name: A, valueFrom: {configMapKeyRef: {name: a, key: .b}}}]", "[{name: A, valueFrom: {configMapKeyRef: {name: a, key: ..}}}]", "[{name: A, valueFrom: {fieldRef: {fieldPath: metadata.labels}}}]"},
	"envFrom":            {"[]", "[{configMapRef: {name: a}}, {configMapRef: {name: a}}]", `[{prefix: "1 ", secretRef: {name: a.b, optional: true}}]`},
	"resources":          {"{}", "{limits: {cpu: 0}}", "{limits: {memory: 0}}", "{limits: {memory: 1}}", "{requests: {cpu: 0, memory: 0}}", "{requests: {memory: 1500m}}", "{limits: {cpu: 1u}}", "{limits: {ephemeral-storage: 0}}", "{limits: {nvidia.com/gpu: 0}}", "{limits: {example.com/a: 9e18}}", "{limits: {hugepages-2Mi: 0}}", "{limits: {hugepages-1Gi: 1Gi}}", "{requests: {hugepages-2Mi: 2Mi}, limits: {hugepages-2Mi: 2Mi}}", "{requests: {a.b/c: 1}, limits: {a.b/c: 1}}", "{limits: {cpu: 9e18, memory: 7Ei}}"},
	"probes":             {"{}", "{path: /}", `{path: "//"}`, `{path: "/a?b=c"}`, "{startup: {failureThreshold: 2147483647}}", "{liveness: {terminationGracePeriodSeconds: 1}}", "{readiness: {grpc: {port: 1, service: a}}}", "{readiness: {grpc: {port: 1}}}", `{liveness: {exec: {command: [""]}}}`, "{liveness: {httpGet: {port: 65535, scheme: HTTPS, httpHeaders: [{name: A-1, value: \"\"}]}}}", "{liveness: {httpGet: {port: 1, path: a}}}", "{readiness: {successThreshold: 5, initialDelaySeconds: 0}}", "{liveness: {tcpSocket: {port: a}}}", "{liveness: {tcpSocket: {port: 1}}, port: a}"},
	"autoscaling":        {"{maxReplicas: 1, targetCPUUtilizationPercentage: 1}", "{minReplicas: 2, maxReplicas: 2147483647, targetMemoryUtilizationPercentage: 2147483647}", "{minReplicas: 3, maxReplicas: 2, targetCPUUtilizationPercentage: 1}"},
	"expose":             {"{hosts: [a]}", `{hosts: ["*.a.b"]}`, "{hosts: [1.a, a.1], paths: [{path: /}, {path: /a/}]}", "{hosts: [a.b], ingress: {className: a.b, tlsSecretName: 1, annotations: {cert-manager.io/A: \"\"}}}", "{hosts: [a.b], paths: [{path: /%20;a=b, pathType: Exact}]}", "{type: Ingress, hosts: [a.b.c], paths: [{path: /.a}, {path: /...}]}", "{route: {termination: Passthrough}}", "{hosts: [a.b], ingress: {className: a}, route: {insecurePolicy: None}}"},
	"files":              {"[]", "[{mountPath: /a, emptyDir: {}}]", "[{mountPath: /tmp, emptyDir: {medium: Memory, sizeLimit: 0}}]", "[{mountPath: /a b, subPath: ' ', configMap: {name: a.b, items: []}}]", "[{mountPath: /a, configMap: {name: a, defaultMode: 511, items: [{key: a, path: a/b}, {key: a, path: a/b}]}}, {mountPath: /b, configMap: {name: a}}]", "[{mountPath: /a, subPath: ./a/.., secret: {secretName: a}}]", "[{mountPath: /a, subPath: ..a, secret: {secretName: a, items: [{key: a, path: a..}]}}]", "[{mountPath: /a, persistentVolumeClaim: {claimName: a}}, {mountPath: /b, readOnly: true, persistentVolumeClaim: {claimName: a}}]", "[{mountPath: /" + strings.Repeat("a", 1000) + ", secret: {secretName: " + letters63 + "." + letters63 + "}}]"},
	"serviceAccountName": {"a.b", "1"},
	"securityProfile":    {"Baseline"},
	"networkPolicy":      {"{isolation: Namespace}", "{isolation: Listed}", "{isolation: Listed, from: [{app: a, namespace: 1}, {app: a}]}"},
	"rollout":            {"{}", "{strategy: Recreate}", "{strategy: RollingUpdate, progressDeadlineSeconds: 2147483647}", "{progressDeadlineSeconds: 1}", "{progressDeadlineSeconds: 10}"},
	"podTemplatePatch":   {"{}", "{spec: {hostname: a}}", "{metadata: {annotations: {a: b}}, spec: {containers: [{name: s, image: b}]}}"},
}

// anySpec puts pieces together as a user does, who leaves most fields out.
var anySpec = rapid.Custom(func(t *rapid.T) string {
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(pieces)) {
		if required := name == "framework" || name == "environment"; required || rapid.IntRange(0, 2).Draw(t, "gives "+name) == 0 {
			fields = append(fields, name+": "+rapid.SampledFrom(pieces[name]).Draw(t, name))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
})

// Whatever a user asks for is refused with a field and a rule, or carried out: no object that
// it makes is refused later, where nobody looks.
func TestWhateverIsAskedForIsRefusedOrCarriedOut(t *testing.T) {
	carriedOut := 0
	rapid.Check(t, func(t *rapid.T) {
		spec := anySpec.Draw(t, "spec")
		app := named("orders")
		app.UID = "uid-1"
		if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
			t.Fatalf("%v in %s", err, spec)
		}
		w, err := translate.EGApp(app, translate.Options{})
		if err != nil {
			if !strings.Contains(err.Error(), "spec.") {
				t.Errorf("the refusal %q names no field", err)
			}
			return
		}
		carriedOut++
		for _, child := range resources.Desired(w, workload.Observed{}) {
			if err := server.Apply(t.Context(), child.Config, client.FieldOwner(workload.FieldManager), client.DryRunAll); err != nil {
				t.Errorf("%s for %s: %v", child.Kind, spec, err)
			}
		}
	})
	if carriedOut == 0 {
		t.Error("everything was refused")
	}
}

// Objects that were stored before a rule came, or past every check, end in an error.
func TestNoSpecificationIsMoreThanRefused(t *testing.T) {
	specs := make([]string, 0, len(rules)+len(accepted))
	for _, rule := range rules {
		specs = append(specs, rule.spec)
	}
	for _, spec := range accepted {
		specs = append(specs, spec)
	}
	for _, first := range accepted {
		for _, second := range specs {
			app := named("orders")
			for _, spec := range []string{first, second} {
				if err := yaml.Unmarshal([]byte(spec), &app.Spec); err != nil {
					t.Fatal(err)
				}
			}
			before := app.DeepCopy()
			w, err := translate.EGApp(app, translate.Options{})
			if (err != nil) != (w.Container.Image == "") {
				t.Errorf("%s and %s: both an error and a workload, or neither: %v", first, second, err)
			}
			if !equality.Semantic.DeepEqual(before, app) {
				t.Errorf("%s and %s: the object was changed", first, second)
			}
		}
	}
}
