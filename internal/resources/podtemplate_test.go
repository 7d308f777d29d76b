// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"platformapp/internal/resources"
	"platformapp/internal/workload"
)

// N17
func TestContainerPortsAreListedOnceAndKeepTheirProtocol(t *testing.T) {
	const ports = `
ports:
- {name: dns-tcp, containerPort: 5353, servicePort: 53, protocol: TCP}
- {name: dns-udp, containerPort: 5353, servicePort: 53, protocol: UDP}
- {name: grpc, containerPort: 9090, servicePort: 9090, appProtocol: kubernetes.io/h2c}
- {name: admin, containerPort: 9090, servicePort: 9091}
`
	want := []corev1.ContainerPort{
		{Name: "dns-tcp", ContainerPort: 5353, Protocol: corev1.ProtocolTCP},
		{Name: "dns-udp", ContainerPort: 5353, Protocol: corev1.ProtocolUDP},
		{Name: "grpc", ContainerPort: 9090, Protocol: corev1.ProtocolTCP},
	}
	for name, patch := range map[string]string{
		"no patch":         "",
		"the same port":    `podTemplatePatch: {spec: {containers: [{name: orders, ports: [{containerPort: 5353, protocol: UDP, name: dns-udp}]}]}}`,
		"without its name": `podTemplatePatch: {spec: {containers: [{name: main, ports: [{containerPort: 5353, protocol: UDP}]}]}}`,
		"without protocol": `podTemplatePatch: {spec: {containers: [{name: main, ports: [{containerPort: 9090}]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, templateOf(t, ports+patch).Spec.Containers[0].Ports); diff != "" {
				t.Error(diff)
			}
		})
	}
	added := templateOf(t, ports+`podTemplatePatch: {spec: {containers: [{name: main, ports: [{containerPort: 5353, protocol: SCTP, name: dns-sctp}]}]}}`)
	if diff := cmp.Diff(append(want, corev1.ContainerPort{Name: "dns-sctp", ContainerPort: 5353, Protocol: corev1.ProtocolSCTP}), added.Spec.Containers[0].Ports); diff != "" {
		t.Error(diff)
	}
}

// N20: what names the main container is the HorizontalPodAutoscaler; here is what it counts on.
func TestSidecarTakesNothingFromTheMainContainer(t *testing.T) {
	for _, appID := range []string{"", "shop-7"} {
		template := templateOf(t, `{appId: "`+appID+`", podTemplatePatch: {spec: {containers: [{name: a-shipper, image: "fluent/fluent-bit:3"}]}}}`)
		main := template.Spec.Containers[0]
		if main.Name != template.Annotations[workload.AnnotationDefaultContainer] || main.Name == "a-shipper" {
			t.Errorf("the first container is %s, the default one %s", main.Name, template.Annotations[workload.AnnotationDefaultContainer])
		}
		if main.Resources.Requests.Cpu().IsZero() || main.Resources.Requests.Memory().IsZero() {
			t.Errorf("the application's container has no requests to scale by: %v", main.Resources)
		}
	}
}

// N33
func TestPullSecretsAreExactlyThoseGiven(t *testing.T) {
	for _, test := range []struct {
		spec string
		want []corev1.LocalObjectReference
	}{
		{`{}`, nil},
		{`{imagePullSecrets: []}`, nil},
		{`{imagePullSecrets: [{name: team-reg}]}`, []corev1.LocalObjectReference{{Name: "team-reg"}}},
	} {
		if diff := cmp.Diff(test.want, templateOf(t, test.spec).Spec.ImagePullSecrets); diff != "" {
			t.Errorf("%s:\n%s", test.spec, diff)
		}
	}
}

// N34
func TestPortBelow1024CanBeListenedAt(t *testing.T) {
	low := workloadWith(t, `{image: "nginx:1.27", ports: [{name: http, containerPort: 80, servicePort: 80}]}`)
	security := deploymentOf(t, resources.Desired(low, workload.Observed{})).Spec.Template.Spec.SecurityContext
	if diff := cmp.Diff([]corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: "0"}}, security.Sysctls); diff != "" {
		t.Error(diff)
	}
	if user := security.RunAsUser; user == nil || *user == 0 {
		t.Error("an image whose user is a name cannot start: the kubelet cannot tell whether it is root")
	}
	if verdict := podSecurityJudge(t)(t, low); !verdict.Allowed {
		t.Error(verdict.ForbiddenDetail())
	}
	if sysctls := templateOf(t, `{ports: [{name: http, containerPort: 1024}]}`).Spec.SecurityContext.Sysctls; len(sysctls) > 0 {
		t.Errorf("port 1024 needs no %v", sysctls)
	}
}

// N42
func TestVariablesArePassedToTheLetter(t *testing.T) {
	const env = `
- {name: spring.datasource.url, value: "jdbc:h2:mem:x"}
- {name: DB_HOST, valueFrom: {secretKeyRef: {name: db, key: db.server.name, optional: true}}}
- {name: MEM, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
- {name: ZONE, valueFrom: {fieldRef: {fieldPath: "metadata.labels['topology.kubernetes.io/zone']"}}}
- {name: EMPTY, value: ""}
- {name: TZ, value: Europe/Oslo}
- {name: LANG, value: C.UTF-8}
- {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
- {name: MODE, valueFrom: {configMapKeyRef: {name: modes, key: mode}}}
`
	var want []corev1.EnvVar
	if err := yaml.UnmarshalStrict([]byte(env), &want); err != nil {
		t.Fatal(err)
	}
	// Server-side apply owns these as a whole: what the server stores beside must be there.
	want[3].ValueFrom.FieldRef.APIVersion = "v1"
	want[7].ValueFrom.ResourceFieldRef.Divisor = resource.MustParse("0")

	got := templateOf(t, `{framework: go, env: `+indentFlow(env)+`}`).Spec.Containers[0].Env
	if got[0].Name != "GOMEMLIMIT" {
		t.Errorf("the runtime's variable, to which others may refer, is not the first of %s", toYAML(t, got))
	}
	if diff := cmp.Diff(toYAML(t, want), toYAML(t, got[1:])); diff != "" {
		t.Error(diff)
	}
}

// indentFlow writes a block list as a flow list.
func indentFlow(block string) string {
	return "[" + strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(block), "- "), "\n- ", ", ") + "]"
}

// N43, C20
func TestUsersVariableWinsAndIsThereOnce(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		want       []corev1.EnvVar
	}{
		{"by value, C20", `{framework: java, env: [{name: JAVA_TOOL_OPTIONS, value: -Xmx64m}]}`,
			[]corev1.EnvVar{{Name: "JAVA_TOOL_OPTIONS", Value: "-Xmx64m"}}},
		{"by valueFrom, N43", `{framework: go, env: [{name: GOMEMLIMIT, valueFrom: {resourceFieldRef: {resource: limits.memory}}}]}`,
			[]corev1.EnvVar{{Name: "GOMEMLIMIT", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: resource.MustParse("0")}}}}},
		{"by the patch", `{framework: go, podTemplatePatch: {spec: {containers: [{name: main, env: [{name: GOMEMLIMIT, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: "1"}}}]}]}}}`,
			[]corev1.EnvVar{{Name: "GOMEMLIMIT", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: resource.MustParse("1")}}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(toYAML(t, test.want), toYAML(t, templateOf(t, test.spec).Spec.Containers[0].Env)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// N43
func TestRuntimesNumbersFollowTheFinalLimit(t *testing.T) {
	workers := func(spec string) string {
		for _, v := range templateOf(t, spec).Spec.Containers[0].Env {
			if v.Name == "WEB_CONCURRENCY" {
				return v.Value
			}
		}
		return ""
	}
	small, big := workers(`{framework: python}`), workers(`{framework: python, resources: {limits: {memory: 4Gi}}}`)
	if small == "" || small == big {
		t.Errorf("workers: %q with the preset's limit, %q with 4Gi", small, big)
	}
	if workers(`{framework: python, instanceType: highMem}`) != big {
		t.Error("the number does not follow the instance type")
	}
}

// The pods must know another number of the preset from a new one of its ConfigMap.
func TestPresetBesideEnvFromGivesWayAndStillRollsThePods(t *testing.T) {
	const spec = `{framework: python, env: [{name: PYTHONUNBUFFERED, value: ""}], envFrom: [{configMapRef: {name: theirs}}, {prefix: S_, secretRef: {name: secret, optional: true}}]`
	w := workloadWith(t, spec+`}`)
	children := resources.Desired(w, workload.Observed{})
	template := deploymentOf(t, children).Spec.Template

	want := []corev1.EnvFromSource{
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "orders-runtime-env"}}},
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "theirs"}}},
		{Prefix: "S_", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "secret"}, Optional: new(true)}},
	}
	if diff := cmp.Diff(want, template.Spec.Containers[0].EnvFrom); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]corev1.EnvVar{{Name: "PYTHONUNBUFFERED"}}, template.Spec.Containers[0].Env); diff != "" {
		t.Errorf("a variable of the preset would win over envFrom:\n%s", diff)
	}
	configMap := &corev1.ConfigMap{}
	if !readChild(t, children, "ConfigMap", configMap) || configMap.Name != "orders-runtime-env" {
		t.Fatalf("there is no ConfigMap of the name that the pods refer to, but %q", configMap.Name)
	}
	if _, twice := configMap.Data["PYTHONUNBUFFERED"]; twice || configMap.Data["WEB_CONCURRENCY"] == "" {
		t.Errorf("data %v", configMap.Data)
	}
	if slices.ContainsFunc(w.References.ConfigMaps, func(r workload.ConfigMapReference) bool { return r.Name == configMap.Name }) {
		t.Error("the operator's own ConfigMap counts among those of others")
	}

	bigger := templateOf(t, spec+`, instanceType: highMem}`)
	if key := workload.AnnotationRuntimeEnvHash; template.Annotations[key] == "" || template.Annotations[key] == bigger.Annotations[key] {
		t.Errorf("hashes %q and %q of different presets", template.Annotations[key], bigger.Annotations[key])
	}
	if readChild(t, resources.Desired(workloadWith(t, `{framework: python}`), workload.Observed{}), "ConfigMap", configMap) {
		t.Error("without envFrom there is a ConfigMap")
	}
}

// Property 13
func TestPodsRollWithTheConfigurationThatTheyUse(t *testing.T) {
	const spec = `{env: [{name: MODE, valueFrom: {configMapKeyRef: {name: cfg, key: mode}}}]`
	observe := func(live string, values map[string]string) workload.Observed {
		o := workload.Observed{Children: map[string]workload.Object{}, ConfigMaps: map[string]workload.ConfigMap{}}
		if live != "" {
			deployment := &appsv1.Deployment{}
			deployment.Spec.Template.Annotations = map[string]string{workload.AnnotationConfigHash: live}
			o.Children[workload.KindDeployment] = deployment
		}
		if values != nil {
			o.ConfigMaps["cfg"] = workload.ConfigMap{}
			for key, value := range values {
				o.ConfigMaps["cfg"][key] = workload.ValueHash([]byte(value))
			}
		}
		return o
	}
	hash := func(spec string, o workload.Observed) string {
		t.Helper()
		return deploymentOf(t, resources.Desired(workloadWith(t, spec), o)).Spec.Template.Annotations[workload.AnnotationConfigHash]
	}
	first := hash(spec+`}`, observe("", map[string]string{"mode": "a", "other": "x"}))
	if first == "" {
		t.Fatal("the pods have no hash of their configuration")
	}
	for _, test := range []struct {
		name, spec string
		observed   workload.Observed
		same       bool
	}{
		{"another key changes", spec + `}`, observe(first, map[string]string{"mode": "a", "other": "y"}), true},
		{"the used key changes", spec + `}`, observe(first, map[string]string{"mode": "b"}), false},
		{"the used key changes and is to be ignored", spec + `, rollout: {configChangePolicy: Ignore}}`, observe(first, map[string]string{"mode": "b"}), true},
		{"the key is away", spec + `}`, observe(first, map[string]string{}), true},
		{"the ConfigMap is away", spec + `}`, observe(first, nil), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := hash(test.spec, test.observed); (got == first) != test.same || got == "" {
				t.Errorf("hash %q after %q", got, first)
			}
		})
	}
	if got := hash(`{}`, observe(first, nil)); got != "" {
		t.Errorf("pods that use no ConfigMap have the hash %q", got)
	}
}

func TestFilesAreMountedFromVolumesThatDoNotDependOnTheirOrder(t *testing.T) {
	files := []string{
		`{mountPath: /etc/app, readOnly: true, configMap: {name: app.config-1, items: [{key: a, path: a.txt}]}}`,
		`{mountPath: /etc/again, configMap: {name: app.config-1, items: [{key: a, path: a.txt}]}, subPath: a.txt}`,
		`{mountPath: /etc/secret, secret: {secretName: ` + strings.Repeat("s", 250) + `, optional: true}}`,
		`{mountPath: /data, persistentVolumeClaim: {claimName: orders-data}}`,
		`{mountPath: /scratch, emptyDir: {medium: Memory, sizeLimit: 64Mi}}`,
		`{mountPath: /other, emptyDir: {medium: Memory, sizeLimit: 64Mi}}`,
	}
	template := templateOf(t, `{files: [`+strings.Join(files, ", ")+`]}`)
	slices.Reverse(files)
	if diff := cmp.Diff(toYAML(t, template), toYAML(t, templateOf(t, `{files: [`+strings.Join(files, ", ")+`]}`))); diff != "" {
		t.Errorf("the order of the files matters:\n%s", diff)
	}
	if n := len(template.Spec.Volumes); n != 5 {
		t.Errorf("%d volumes, want one for each source and scratch space for each that asks for it:\n%s", n, toYAML(t, template.Spec.Volumes))
	}
	names := map[string]bool{}
	for _, volume := range template.Spec.Volumes {
		names[volume.Name] = true
		for _, problem := range validation.IsDNS1123Label(volume.Name) {
			t.Errorf("volume name %q: %s", volume.Name, problem)
		}
	}
	for _, mount := range template.Spec.Containers[0].VolumeMounts {
		if !names[mount.Name] {
			t.Errorf("%s is mounted from %s, which is not there", mount.MountPath, mount.Name)
		}
		if mount.ReadOnly != (mount.MountPath == "/etc/app") {
			t.Errorf("%s is read-only: %t", mount.MountPath, mount.ReadOnly)
		}
	}
}

func TestReadOnlyRootHasAWritableTmp(t *testing.T) {
	for name, test := range map[string]struct {
		spec     string
		readOnly bool
		tmp      int
	}{
		"read-only":               {`{framework: go}`, true, 1},
		"read-only with own /tmp": {`{framework: go, files: [{mountPath: /tmp, emptyDir: {medium: Memory}}]}`, true, 0},
		"writable":                {`{framework: java}`, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			pod := templateOf(t, test.spec).Spec
			readOnly := pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem
			if (readOnly != nil && *readOnly) != test.readOnly {
				t.Errorf("readOnlyRootFilesystem %v, want %t: the case is none", readOnly, test.readOnly)
			}
			var mounted int
			for _, mount := range pod.Containers[0].VolumeMounts {
				if mount.Name == "tmp" && mount.MountPath == "/tmp" {
					mounted++
				}
			}
			if mounted != test.tmp {
				t.Errorf("/tmp is mounted %d times, want %d", mounted, test.tmp)
			}
		})
	}
}

func TestNamedAccountHasATokenAndTheDefaultHasNone(t *testing.T) {
	named, unnamed := templateOf(t, `{serviceAccountName: orders-sa}`).Spec, templateOf(t, `{}`).Spec
	if named.ServiceAccountName != "orders-sa" || !*named.AutomountServiceAccountToken {
		t.Errorf("account %q, token %t", named.ServiceAccountName, *named.AutomountServiceAccountToken)
	}
	if unnamed.ServiceAccountName != "" || *unnamed.AutomountServiceAccountToken {
		t.Errorf("account %q, token %t", unnamed.ServiceAccountName, *unnamed.AutomountServiceAccountToken)
	}
}
