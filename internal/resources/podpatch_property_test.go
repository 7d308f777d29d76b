// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// Parts of patches, each of which is valid by itself; those of one list do not exclude each
// other.
var (
	anyPodSpecPatch = []string{
		`{"hostAliases":[{"ip":"10.0.0.9","hostnames":["legacy.example.com"]}]}`,
		`{"dnsConfig":{"options":[{"name":"ndots","value":"1"}]}}`,
		`{"nodeSelector":{"kubernetes.io/arch":"arm64"},"tolerations":[{"operator":"Exists"}]}`,
		`{"topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule"}]}`,
		`{"topologySpreadConstraints":null}`,
		`{"initContainers":[{"name":"tail","image":"busybox:1.37","restartPolicy":"Always"},{"name":"migrate","image":"mig:1","ports":[{"containerPort":1}]}]}`,
		`{"volumes":[{"name":"kv","csi":{"driver":"x.example.com"}},{"name":"token","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]}`,
		`{"securityContext":{"supplementalGroups":[5],"fsGroup":null,"runAsUser":1000}}`,
		`{"priorityClassName":"low","runtimeClassName":"gvisor","shareProcessNamespace":true,"hostname":"x"}`,
		`{"terminationGracePeriodSeconds":3600,"automountServiceAccountToken":true,"enableServiceLinks":true}`,
		`{"imagePullSecrets":[{"name":"more"}]}`,
		`{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname"}]}}}`,
	}
	anyMainPatch = []string{
		`{"readinessProbe":{"exec":{"command":["/ready"]}},"livenessProbe":null}`,
		`{"securityContext":{"readOnlyRootFilesystem":false}}`,
		`{"securityContext":null}`,
		`{"env":[{"name":"JAVA_TOOL_OPTIONS","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},{"name":"X","value":"$(Y)"}]}`,
		`{"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}],"volumeDevices":null}`,
		`{"ports":[{"containerPort":8080,"protocol":"UDP"},{"containerPort":9000}]}`,
		`{"lifecycle":{"preStop":{"exec":{"command":["/stop"]}}},"workingDir":"/srv","args":["a"]}`,
		`{"imagePullPolicy":"Never","terminationMessagePolicy":"FallbackToLogsOnError"}`,
	}
	anySidecarPatch = []string{
		`{"name":"a-first","image":"busybox:1.37"}`,
		`{"name":"z-last","image":"busybox:1.37","securityContext":{"runAsUser":7},"ports":[{"containerPort":8080,"name":"http"}]}`,
	}
	anyMetadataPatch = []string{
		`null`, `{}`, `{"labels":{"tier":"web"},"annotations":{"dapr.io/enabled":"true"}}`,
		`{"annotations":{"platform.evillgenius.com/remove":"spec.containers[main].startupProbe spec.dnsPolicy"}}`,
	}
)

// anyPatch is a pod template patch that breaks no rule.
var anyPatch = rapid.Custom(func(t *rapid.T) []byte {
	spec := map[string]any{}
	for _, part := range rapid.SliceOfNDistinct(rapid.SampledFrom(anyPodSpecPatch), 0, 4, rapid.ID).Draw(t, "parts of the pods") {
		readInto(t, json.RawMessage(part), &spec)
	}
	main := map[string]any{"name": workload.MainContainer}
	for _, part := range rapid.SliceOfNDistinct(rapid.SampledFrom(anyMainPatch), 0, 3, rapid.ID).Draw(t, "parts of the main container") {
		readInto(t, json.RawMessage(part), &main)
	}
	containers := []any{main}
	for _, part := range rapid.SliceOfNDistinct(rapid.SampledFrom(anySidecarPatch), 0, 2, rapid.ID).Draw(t, "sidecars") {
		containers = append(containers, json.RawMessage(part))
	}
	if rapid.Bool().Draw(t, "a sidecar comes first") {
		containers = append(containers[1:], main)
	}
	spec["containers"] = containers
	serialized, err := json.Marshal(map[string]any{
		"metadata": json.RawMessage(rapid.SampledFrom(anyMetadataPatch).Draw(t, "metadata")),
		"spec":     spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	return serialized
})

func TestPatchedPodsKeepWhatTheOperatorGivesThem(t *testing.T) {
	judge := podSecurityJudge(t)
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkload.Draw(t, "workload")
		w.PodTemplatePatch = anyPatch.Draw(t, "patch")
		references, errs := resources.CheckPods(w)
		if len(errs) > 0 {
			t.Fatalf("a valid patch is refused: %v", errs.ToAggregate())
		}
		w.References = references
		template := deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template

		if diff := cmp.Diff(toYAML(t, template), toYAML(t, deploymentOf(t, resources.Desired(w, workload.Observed{})).Spec.Template)); diff != "" {
			t.Errorf("the second rendering differs:\n%s", diff)
		}
		if verdict := judge(t, w); !verdict.Allowed {
			t.Errorf("the standard %s: %s", w.Security, verdict.ForbiddenDetail())
		}
		if !labels.SelectorFromSet(w.Owner.Selector()).Matches(labels.Set(template.Labels)) {
			t.Errorf("the selector does not match the pods' labels %v", template.Labels)
		}
		if first := template.Spec.Containers[0]; first.Name != w.Container.Name || first.Image == "" {
			t.Errorf("the first container is %s with the image %q", first.Name, first.Image)
		}
		if got := template.Annotations[workload.AnnotationDefaultContainer]; got != w.Container.Name {
			t.Errorf("the default container is %q", got)
		}
		if _, there := template.Annotations[workload.AnnotationRemove]; there {
			t.Error("the annotation for the operator reaches the pods")
		}
		for _, constraint := range template.Spec.TopologySpreadConstraints {
			selector, err := metav1.LabelSelectorAsSelector(constraint.LabelSelector)
			if err != nil || !selector.Matches(labels.Set(template.Labels)) {
				t.Errorf("the pods are spread over %s by %v, which does not select them", constraint.TopologyKey, constraint.LabelSelector)
			}
		}
		for _, c := range append(template.Spec.InitContainers, template.Spec.Containers...) {
			expectOneOfEach(t, c)
		}
	})
}

// expectOneOfEach fails where an apply would be refused: for two items of one key, and for
// what is two things at once.
func expectOneOfEach(t rapid.TB, c corev1.Container) {
	t.Helper()
	seen := map[string]bool{}
	for _, v := range c.Env {
		if seen[v.Name] || v.Value != "" && v.ValueFrom != nil {
			t.Errorf("variable %s of %s is there twice", v.Name, c.Name)
		}
		seen[v.Name] = true
	}
	type port struct {
		number   int32
		protocol corev1.Protocol
	}
	ports := map[port]bool{}
	for _, p := range c.Ports {
		key := port{p.ContainerPort, p.Protocol}
		if ports[key] || p.Protocol == "" {
			t.Errorf("port %v of %s is there twice, or without protocol", key, c.Name)
		}
		ports[key] = true
	}
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if p != nil && p.Exec != nil && (p.HTTPGet != nil || p.TCPSocket != nil || p.GRPC != nil) {
			t.Errorf("a probe of %s has two handlers", c.Name)
		}
	}
}
