// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"platformapp/internal/resources"
	"platformapp/internal/translate"
	"platformapp/internal/workload"
)

// templateOf returns the final pods of the EGApp orders with more fields of its spec.
func templateOf(t testing.TB, spec string) corev1.PodTemplateSpec {
	t.Helper()
	return deploymentOf(t, resources.Desired(workloadWith(t, spec), workload.Observed{})).Spec.Template
}

func workloadWith(t testing.TB, spec string) workload.Workload {
	t.Helper()
	fields := map[string]any{}
	if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
		t.Fatal(err)
	}
	return mustTranslate(t, egAppWith(t, fields))
}

func refusal(t testing.TB, spec string) string {
	t.Helper()
	fields := map[string]any{}
	if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
		t.Fatal(err)
	}
	if _, err := translate.EGApp(egAppWith(t, fields), translate.Options{}); err != nil {
		return err.Error()
	}
	return ""
}

// C13
func TestPatchMergesByNameAndLeavesNothingBehind(t *testing.T) {
	before := templateOf(t, `{}`)
	patched := templateOf(t, `
podTemplatePatch:
  spec:
    containers: [{name: shipper, image: "fluent/fluent-bit:3"}]
    initContainers: [{name: migrate, image: "example.com/mig:1"}]
    tolerations: [{key: spot, operator: Exists}]
`)
	if names := containerNames(patched.Spec.Containers); !slices.Equal(names, []string{"orders", "shipper"}) {
		t.Errorf("containers %v", names)
	}
	if names := containerNames(patched.Spec.InitContainers); !slices.Equal(names, []string{"migrate"}) {
		t.Errorf("init containers %v", names)
	}
	if diff := cmp.Diff([]corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}}, patched.Spec.Tolerations); diff != "" {
		t.Error(diff)
	}
	patched.Spec.Containers = patched.Spec.Containers[:1]
	patched.Spec.InitContainers, patched.Spec.Tolerations = nil, nil
	if diff := cmp.Diff(toYAML(t, before), toYAML(t, patched)); diff != "" {
		t.Errorf("the patch changes what it does not name:\n%s", diff)
	}
}

// C14; what it says of the selector's label and of $patch is in testdata/attacks.yaml.
func TestPatchThatIsNoneIsRefusedWithItsPath(t *testing.T) {
	for _, test := range []struct{ name, patch, want string }{
		{"list", `[]`, "spec.podTemplatePatch: Invalid value"},
		{"text", `"replicas"`, "spec.podTemplatePatch: Invalid value"},
		{"unknown field", `{spec: {containers: [{name: main, imagePulPolicy: Always}]}}`, "spec.podTemplatePatch.spec.containers[0].imagePulPolicy: Forbidden"},
		{"field in the wrong place", `{containers: []}`, "spec.podTemplatePatch.containers: Forbidden"},
		{"field in the wrong case, N27", `{spec: {restartpolicy: Always}}`, "spec.podTemplatePatch.spec.restartpolicy: Forbidden"},
		{"text for a number", `{spec: {terminationGracePeriodSeconds: long}}`, `spec.podTemplatePatch.spec.terminationGracePeriodSeconds: Invalid value: must be an integer of 64 bits, not the string "long"`},
		{"number for a text", `{spec: {containers: [{name: main, env: [{name: PORT, value: 8080}]}]}}`, "spec.podTemplatePatch.spec.containers[0].env[0].value: Invalid value: must be a string, not 8080"},
		{"object for a list", `{spec: {containers: {name: main}}}`, "spec.podTemplatePatch.spec.containers: Invalid value: must be a list, not an object"},
		{"list for an object", `{spec: {securityContext: []}}`, "spec.podTemplatePatch.spec.securityContext: Invalid value: must be an object, not a list"},
		{"no quantity", `{spec: {containers: [{name: main, resources: {limits: {cpu: much}}}]}}`, "spec.podTemplatePatch.spec.containers[0].resources.limits.cpu: Invalid value: quantities must"},
		{"null in a list", `{spec: {containers: [null]}}`, "spec.podTemplatePatch.spec.containers[0]: Invalid value: must not be null"},
		{"container without a name", `{spec: {containers: [{image: "busybox:1.37"}]}}`, "spec.podTemplatePatch.spec.containers[0].name: Required value"},
		{"two containers of one name", `{spec: {containers: [{name: a, image: "a:1"}, {name: a, image: "b:1"}]}}`, "spec.podTemplatePatch.spec.containers[1]: Duplicate value"},
		{"one variable twice", `{spec: {containers: [{name: main, env: [{name: A}, {name: A}]}]}}`, "spec.podTemplatePatch.spec.containers[0].env[1]: Duplicate value"},
		{"one port twice", `{spec: {containers: [{name: main, ports: [{containerPort: 9000}, {containerPort: 9000, protocol: TCP}]}]}}`, "spec.podTemplatePatch.spec.containers[0].ports[1]: Duplicate value"},
		{"two ports of one name", `{spec: {containers: [{name: main, ports: [{containerPort: 9000, name: http}]}]}}`, "two ports of the container orders would have this name"},
		{"volume that is not there", `{spec: {containers: [{name: main, volumeMounts: [{name: kv, mountPath: /kv}]}]}}`, `spec.podTemplatePatch.spec.volumes: Invalid value: "kv"`},
		{"probe of two kinds", `{spec: {containers: [{name: main, readinessProbe: {exec: {command: [a]}, tcpSocket: {port: 1}}}]}}`, "only one of exec and tcpSocket can be given"},
		{"application's image", `{spec: {containers: [{name: orders, image: "other:1"}]}}`, "spec.podTemplatePatch.spec.containers[0].image: Forbidden: use spec.image"},
		{"application's image left out", `{spec: {containers: [{name: main, image: null}]}}`, "spec.podTemplatePatch.spec.containers[0].image: Forbidden: use spec.image"},
		{"application's resources", `{spec: {containers: [{name: main, resources: {limits: {memory: 8Gi}}}]}}`, "spec.podTemplatePatch.spec.containers[0].resources: Forbidden: use spec.resources"},
		{"application's resources left out", `{spec: {containers: [{name: main, resources: null}]}}`, "spec.podTemplatePatch.spec.containers[0].resources: Forbidden: use spec.resources"},
		{"application's resources left out by the annotation", `{metadata: {annotations: {platform.evillgenius.com/remove: "spec.containers[main].resources.limits"}}}`, "spec.podTemplatePatch.spec.containers[0].resources: Forbidden: use spec.resources"},
		{"image of a sidecar", `{spec: {containers: [{name: proxy, image: "https://example.com/proxy"}]}}`, `spec.podTemplatePatch.spec.containers[0].image: Invalid value: "https://example.com/proxy": of the container proxy must be an image reference`},
		{"image of an init container", `{spec: {initContainers: [{name: setup, image: "Setup :1"}]}}`, `spec.podTemplatePatch.spec.initContainers[0].image: Invalid value: "Setup :1": of the container setup must be an image reference`},
		{"variable of a sidecar from a volume that is not there", `{spec: {containers: [{name: proxy, image: "proxy:1", env: [{name: A, valueFrom: {fileKeyRef: {volumeName: vars, path: a.env, key: A}}}]}]}}`,
			`spec.podTemplatePatch.spec.volumes: Invalid value: "vars": the variable A of the container proxy`},
		{"variables beside the runtime's", `{spec: {containers: [{name: main, envFrom: [{configMapRef: {name: a}}]}]}}`, "spec.podTemplatePatch.spec.containers[0].envFrom: Forbidden: use spec.envFrom"},
		{"application that may end", `{spec: {restartPolicy: Never}}`, "spec.podTemplatePatch.spec.restartPolicy: Forbidden"},
		{"application that must end", `{spec: {activeDeadlineSeconds: 60}}`, "spec.podTemplatePatch.spec.activeDeadlineSeconds: Forbidden"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := refusal(t, `{podTemplatePatch: `+test.patch+`}`); !strings.Contains(got, test.want) {
				t.Errorf("is refused with %q, want %q in it", got, test.want)
			}
		})
	}
}

// The server would keep the last of them; the other would be lost without a word.
func TestFieldThatStandsTwiceIsRefused(t *testing.T) {
	w := workloadWith(t, `{}`)
	w.PodTemplatePatch = []byte(`{"spec": {"hostname": "a", "hostname": "b"}}`)
	_, errs := resources.CheckPods(w)
	if got := errs.ToAggregate(); got == nil || !strings.Contains(got.Error(), "spec.podTemplatePatch.spec.hostname: Invalid value: must stand only once") {
		t.Errorf("got %v", got)
	}
}

const patchOfN27 = `
initContainers:
- {name: tail, image: "busybox:1.37", restartPolicy: Always, command: [tail, -F, /tmp/x], startupProbe: {exec: {command: ["true"]}}}
- {name: migrate, image: "example.com/mig:1", command: ["/migrate"]}
volumes: [{name: kv, csi: {driver: secrets-store.csi.k8s.io, readOnly: true, volumeAttributes: {secretProviderClass: kv}}}]
containers: [{name: orders, volumeMounts: [{name: kv, mountPath: /mnt/kv, readOnly: true}]}]
hostAliases: [{ip: 10.0.0.9, hostnames: [legacy.example.com]}]
dnsConfig: {options: [{name: ndots, value: "1"}]}
nodeSelector: {kubernetes.io/arch: arm64}
tolerations: [{key: kubernetes.azure.com/scalesetpriority, operator: Equal, value: spot, effect: NoSchedule}]
priorityClassName: low
terminationGracePeriodSeconds: 3600
`

// N27
func TestEachFieldOfAPatchArrives(t *testing.T) {
	w := workloadWith(t, "podTemplatePatch:\n  spec:\n"+indent(patchOfN27, "    "))
	pod := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template.Spec

	if names := containerNames(pod.InitContainers); !slices.Equal(names, []string{"tail", "migrate"}) {
		t.Errorf("init containers %v, want them in the order of the patch", names)
	}
	if policy := pod.InitContainers[0].RestartPolicy; policy == nil || *policy != corev1.ContainerRestartPolicyAlways {
		t.Error("the sidecar is none any more: it lost its restartPolicy")
	}
	var want corev1.PodSpec
	if err := yaml.UnmarshalStrict([]byte(patchOfN27), &want); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return cmp.Equal(v, want.Volumes[0]) }) {
		t.Errorf("volumes %s", toYAML(t, pod.Volumes))
	}
	if !slices.ContainsFunc(pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return cmp.Equal(m, want.Containers[0].VolumeMounts[0]) }) {
		t.Errorf("mounts %s", toYAML(t, pod.Containers[0].VolumeMounts))
	}
	for name, pair := range map[string][2]any{
		"hostAliases":                   {want.HostAliases, pod.HostAliases},
		"dnsConfig":                     {want.DNSConfig, pod.DNSConfig},
		"nodeSelector":                  {want.NodeSelector, pod.NodeSelector},
		"tolerations":                   {want.Tolerations, pod.Tolerations},
		"priorityClassName":             {want.PriorityClassName, pod.PriorityClassName},
		"terminationGracePeriodSeconds": {want.TerminationGracePeriodSeconds, pod.TerminationGracePeriodSeconds},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if verdict := podSecurityJudge(t)(t, w); !verdict.Allowed {
		t.Errorf("the added containers do not get what the standard needs: %s", verdict.ForbiddenDetail())
	}
}

// N27
func TestFieldThatLeavesThePatchLeavesThePods(t *testing.T) {
	var all map[string]any
	if err := yaml.Unmarshal([]byte(patchOfN27), &all); err != nil {
		t.Fatal(err)
	}
	render := func(spec map[string]any) string {
		w := mustTranslate(t, egAppWith(t, map[string]any{"podTemplatePatch": map[string]any{"spec": spec}}))
		return toYAML(t, deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template)
	}
	never := toYAML(t, templateOf(t, `{}`))
	for field := range all {
		t.Run(field, func(t *testing.T) {
			alone := map[string]any{field: all[field]}
			if field == "containers" {
				alone["volumes"] = all["volumes"]
			}
			if render(alone) == never {
				t.Error("the field changes nothing: the case is none")
			}
			if diff := cmp.Diff(never, render(map[string]any{})); diff != "" {
				t.Errorf("an empty patch is not none:\n%s", diff)
			}
			if field == "volumes" {
				return // a container mounts it
			}
			without := maps.Clone(all)
			delete(without, field)
			if render(without) == render(all) {
				t.Error("the pods are the same without the field")
			}
		})
	}
}

// C28
func TestMetadataOfPatchIsOnPodsAloneAndGoesWithIt(t *testing.T) {
	w := workloadWith(t, `{podTemplatePatch: {metadata: {annotations: {dapr.io/enabled: "true"}, labels: {tier: web}}}}`)
	children := resources.Desired(w, workload.Observed{})
	template := deploymentOf(t, children).Spec.Template
	if template.Annotations["dapr.io/enabled"] != "true" || template.Labels["tier"] != "web" {
		t.Errorf("metadata of the pods: %s", toYAML(t, template.ObjectMeta))
	}
	for _, child := range children {
		if child.Meta.Annotations["dapr.io/enabled"] != "" || child.Meta.Labels["tier"] != "" {
			t.Errorf("the %s has metadata that is for pods", child.Kind)
		}
	}
	if diff := cmp.Diff(toYAML(t, templateOf(t, `{}`)), toYAML(t, templateOf(t, `{podTemplatePatch: {metadata: {annotations: {}, labels: {}}}}`))); diff != "" {
		t.Errorf("what left the patch is still there:\n%s", diff)
	}
}

// What the server does not store is a difference for ever, if it owns what it stands in as a
// whole; and a patch that says nothing must claim nothing.
func TestPatchClaimsNoZeros(t *testing.T) {
	pods := func(spec string) string {
		children := resources.Desired(workloadWith(t, spec), workload.Observed{})
		var sent struct {
			Spec struct {
				Template json.RawMessage `json:"template"`
			} `json:"spec"`
		}
		for _, child := range children {
			if child.Kind == workload.KindDeployment {
				readInto(t, child.Config, &sent)
			}
		}
		return toYAML(t, sent.Spec.Template)
	}
	if diff := cmp.Diff(pods(`{}`), pods(`{podTemplatePatch: {spec: {hostNetwork: false, hostname: "", nodeSelector: {}, containers: [{name: main, tty: false, env: []}]}}}`)); diff != "" {
		t.Error(diff)
	}
	want := []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}}
	if diff := cmp.Diff(toYAML(t, want), toYAML(t, templateOf(t, `{podTemplatePatch: {spec: {tolerations: [{key: a, operator: Exists, value: "", effect: null}]}}}`).Spec.Tolerations)); diff != "" {
		t.Error(diff)
	}
	if sent := pods(`{podTemplatePatch: {spec: {tolerations: [{key: a, operator: Exists, value: ""}]}}}`); strings.Contains(sent, `value: ""`) {
		t.Errorf("an empty value is sent:\n%s", sent)
	}
}

// N26
func TestTokenOfThePodsOwnAccountIsAdmitted(t *testing.T) {
	template := templateOf(t, `
podTemplatePatch:
  metadata:
    annotations:
      vault.hashicorp.com/agent-inject: "true"
      vault.hashicorp.com/agent-inject-template-db: "{{- with secret \"kv/db\" -}}\nexport DB={{ .Data.data.url }}\n{{- end }}"
  spec:
    volumes: [{name: vault-token, projected: {sources: [{serviceAccountToken: {path: token, audience: vault}}, {downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}}]}}]
`)
	if got, want := template.Annotations["vault.hashicorp.com/agent-inject-template-db"], "{{- with secret \"kv/db\" -}}\nexport DB={{ .Data.data.url }}\n{{- end }}"; got != want {
		t.Errorf("template %q, want it to the letter: %q", got, want)
	}
	i := slices.IndexFunc(template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "vault-token" })
	// The list is owned as a whole: the server's defaults in it must be there.
	want := []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "vault", ExpirationSeconds: new(int64(3600))}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "name", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}}}},
	}
	if diff := cmp.Diff(want, template.Spec.Volumes[i].Projected.Sources); diff != "" {
		t.Error(diff)
	}
	if template.Spec.ServiceAccountName != "" || *template.Spec.AutomountServiceAccountToken {
		t.Error("the pods have a token that nobody asked for")
	}
}

// N40
func TestSpreadConstraintReplacesOursForItsKey(t *testing.T) {
	w := workloadWith(t, `{podTemplatePatch: {spec: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {tier: web}}}]}}}`)
	template := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template
	ours := &metav1.LabelSelector{MatchLabels: w.Owner.Selector()}
	want := []corev1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: ours, MatchLabelKeys: []string{"pod-template-hash"}},
		{MaxSkew: 2, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: ours},
	}
	if diff := cmp.Diff(want, template.Spec.TopologySpreadConstraints); diff != "" {
		t.Error(diff)
	}

	for name, patch := range map[string]string{
		"selector of the pods' own label": `{metadata: {labels: {tier: web}}, spec: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {tier: web}}}]}}`,
		"no selector":                     `{spec: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]}}`,
		"selector of every pod":           `{spec: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			template := templateOf(t, `{podTemplatePatch: `+patch+`}`)
			if n := len(template.Spec.TopologySpreadConstraints); n != 3 {
				t.Fatalf("%d constraints, want ours and the patch's", n)
			}
			for _, constraint := range template.Spec.TopologySpreadConstraints {
				selector, err := metav1.LabelSelectorAsSelector(constraint.LabelSelector)
				if err != nil || selector.Empty() || !selector.Matches(labels.Set(template.Labels)) {
					t.Errorf("selector %v of %s does not select just such pods (%v)", constraint.LabelSelector, constraint.TopologyKey, err)
				}
			}
		})
	}
	if rest := templateOf(t, `{podTemplatePatch: {spec: {topologySpreadConstraints: null}}}`).Spec.TopologySpreadConstraints; len(rest) > 0 {
		t.Errorf("constraints that were left out are there: %v", rest)
	}
}

// N45
func TestMainContainerIsAddressedByEitherName(t *testing.T) {
	for _, name := range []string{"main", "orders"} {
		template := templateOf(t, `{podTemplatePatch: {spec: {containers: [{name: `+name+`, securityContext: {readOnlyRootFilesystem: false}}]}}}`)
		if len(template.Spec.Containers) != 1 || template.Spec.Containers[0].Name != "orders" {
			t.Fatalf("containers %v", containerNames(template.Spec.Containers))
		}
		if readOnly := template.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem; readOnly == nil || *readOnly {
			t.Error("the patch of the container has no effect")
		}
	}
	renamed := templateOf(t, `{appId: shop-7, podTemplatePatch: {spec: {containers: [{name: main, workingDir: /srv}]}}}`)
	if c := renamed.Spec.Containers; len(c) != 1 || c[0].Name != "shop-7" || c[0].WorkingDir != "/srv" {
		t.Errorf("with another appId the patch is lost: %s", toYAML(t, c))
	}
	if got := refusal(t, `{podTemplatePatch: {spec: {containers: [{name: main, tty: true}, {name: orders, stdin: true}]}}}`); !strings.Contains(got, "main and orders are the same container") {
		t.Errorf("both names at once: %q", got)
	}
	if got := refusal(t, `{podTemplatePatch: {spec: {containers: [{name: app, securityContext: {readOnlyRootFilesystem: false}}]}}}`); !strings.Contains(got, "spec.podTemplatePatch.spec.containers[0].image: Required value") || !strings.Contains(got, "called main or orders") {
		t.Errorf("a name that matches nothing: %q", got)
	}
}

// N45: the last is what every client can send.
func TestPresetFieldIsLeftOut(t *testing.T) {
	before := templateOf(t, `{}`)
	for _, patch := range []string{
		`{spec: {containers: [{name: orders, readinessProbe: null, lifecycle: null}]}}`,
		`{metadata: {annotations: {platform.evillgenius.com/remove: "spec.containers[main].readinessProbe, spec.containers[orders].lifecycle"}}}`,
	} {
		template := templateOf(t, `{podTemplatePatch: `+patch+`}`)
		want := before.DeepCopy()
		want.Spec.Containers[0].ReadinessProbe, want.Spec.Containers[0].Lifecycle = nil, nil
		if diff := cmp.Diff(toYAML(t, *want), toYAML(t, template)); diff != "" {
			t.Errorf("%s:\n%s", patch, diff)
		}
	}
	for _, test := range []struct{ remove, patch, want string }{
		{"spec.containers[main].readinesProbe", `{}`, "is not a field of a pod template"},
		{"spec.containers.main.readinessProbe.httpGet", `{}`, "must name the container in brackets, such as spec.containers[main].readinessProbe.httpGet"},
		{"spec.containers.main", `{}`, "such as spec.containers[main].readinessProbe"},
		{"containers", `{}`, "must be paths such as"},
		{"spec.containers[main].workingDir", `{containers: [{name: main, workingDir: /srv}]}`, "is set by the patch"},
		{"spec.containers[main].image", `{}`, "image: Forbidden: use spec.image"},
		{"spec.containers[other].workingDir", `{}`, "the container other has no image"},
	} {
		got := refusal(t, `{podTemplatePatch: {metadata: {annotations: {platform.evillgenius.com/remove: "`+test.remove+`"}}, spec: `+test.patch+`}}`)
		if !strings.Contains(got, test.want) {
			t.Errorf("to leave out %s is refused with %q, want %q in it", test.remove, got, test.want)
		}
	}
}

func TestOneThingReplacesAnother(t *testing.T) {
	template := templateOf(t, `
env: [{name: MODE, value: fast}, {name: KEY, valueFrom: {secretKeyRef: {name: a, key: b}}}]
files: [{mountPath: /data, emptyDir: {}}]
podTemplatePatch:
  spec:
    containers:
    - name: main
      readinessProbe: {exec: {command: ["/ready"]}, periodSeconds: 3}
      lifecycle: {preStop: {exec: {command: ["/stop"]}}}
      env: [{name: JAVA_TOOL_OPTIONS, valueFrom: {configMapKeyRef: {name: jvm, key: opts}}}, {name: KEY, value: none}, {name: LATE, value: "$(MODE)"}]
`)
	c := template.Spec.Containers[0]
	if h := c.ReadinessProbe.ProbeHandler; h.Exec == nil || h.TCPSocket != nil || h.HTTPGet != nil || c.ReadinessProbe.PeriodSeconds != 3 || c.ReadinessProbe.FailureThreshold == 0 {
		t.Errorf("readiness probe:\n%s", toYAML(t, c.ReadinessProbe))
	}
	if h := c.Lifecycle.PreStop; h.Exec == nil || h.Sleep != nil {
		t.Errorf("preStop:\n%s", toYAML(t, h))
	}
	want := []corev1.EnvVar{
		{Name: "JAVA_TOOL_OPTIONS", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "jvm"}, Key: "opts"}}},
		{Name: "MODE", Value: "fast"},
		{Name: "KEY", Value: "none"},
		{Name: "LATE", Value: "$(MODE)"},
	}
	if diff := cmp.Diff(want, c.Env); diff != "" {
		t.Errorf("variables, in the order in which they may refer to each other:\n%s", diff)
	}

	volume := template.Spec.Volumes[0].Name
	replaced := templateOf(t, `{files: [{mountPath: /data, emptyDir: {}}], podTemplatePatch: {spec: {volumes: [{name: `+volume+`, persistentVolumeClaim: {claimName: data}}]}}}`)
	if v := replaced.Spec.Volumes[0]; v.EmptyDir != nil || v.PersistentVolumeClaim == nil {
		t.Errorf("volume:\n%s", toYAML(t, v))
	}
}

func containerNames(containers []corev1.Container) []string {
	var names []string
	for _, c := range containers {
		names = append(names, c.Name)
	}
	return names
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by)
}
